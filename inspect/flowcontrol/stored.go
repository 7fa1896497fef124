package flowcontrol

import (
	dto "github.com/prometheus/client_model/go"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	serverPrefix  = "apiserver_"
	metricObjects = "apiserver_resource_objects"
	metricBytes   = "apiserver_resource_size_estimate_bytes"
	// metricOldObjects is what servers before 1.34 have, with the group in the name of the resource.
	metricOldObjects = "apiserver_storage_objects"
	metricWatches    = "apiserver_longrunning_requests"
)

// storedFamilies are the metrics about what the server stores.
var storedFamilies = []string{metricObjects, metricBytes, metricOldObjects}

// readStored reads how many objects there are, how large they are, and how many watch them.
func (m *Metrics) readStored(families map[string]*dto.MetricFamily) {
	key := func(metric *dto.Metric) string {
		return schema.GroupResource{Group: label(metric, "group"), Resource: label(metric, "resource")}.String()
	}
	add := func(family string, change func(*Stored, *dto.Metric)) {
		for _, metric := range families[family].GetMetric() {
			stored := m.Stored[key(metric)]
			change(&stored, metric)
			m.Stored[key(metric)] = stored
		}
	}
	add(metricOldObjects, func(s *Stored, metric *dto.Metric) { s.Objects = count(gauge(metric)) })
	add(metricObjects, func(s *Stored, metric *dto.Metric) { s.Objects = count(gauge(metric)) })
	add(metricBytes, func(s *Stored, metric *dto.Metric) {
		bytes := -1
		if n := whole(gauge(metric)); n != nil {
			bytes = *n
		}
		s.Bytes, m.Sized = &bytes, true
	})
	for _, metric := range families[metricWatches].GetMetric() {
		if stored, found := m.Stored[key(metric)]; found { // others are not stored here, and the server does not count for them
			stored.Watches += count(gauge(metric))
			m.Stored[key(metric)] = stored
		}
	}
}
