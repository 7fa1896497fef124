package filters

import corev1 "k8s.io/api/core/v1"

// ports is the aspect of NodePorts.
var ports = aspect{pod: (*generator).ports}

func (g *generator) ports(pod *corev1.Pod) {
	pod.Spec.HostNetwork = g.chance(0.2)
	if g.chance(0.2) {
		c := corev1.Container{Name: "ports-init", Image: "example.com/app"}
		if g.chance(0.6) {
			c.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		}
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, c)
	}
	for _, c := range containers(pod) {
		for range g.IntN(3) {
			port := corev1.ContainerPort{
				ContainerPort: pick[int32](g, 80, 443, 8080),
				Protocol:      pick(g, "", corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP),
				HostIP:        pick(g, "", "", "0.0.0.0", "127.0.0.1", "10.0.0.1", "::", "::1"),
			}
			if port.HostPort = pick[int32](g, 0, 80, 443, 8080); pod.Spec.HostNetwork {
				port.HostPort = pick(g, 0, port.ContainerPort)
			}
			c.Ports = append(c.Ports, port)
		}
	}
}
