package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Completion of what questions are about: fixes, who asks the API server for what, and pods.

// fixes completes the number of a fix, by asking the question. Where that takes too long, as in a large cluster, nothing is offered.
func (c *completer) fixes(flags *questionFlags) completion {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if slices.Contains(flags.files, "-") || len(args)+len(flags.files) == 0 || !c.beQuiet() {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		flags.files = once(flags.files)
		ctx, cancel := c.within(cmd.Context())
		defer cancel()
		options, err := flags.toOptions(c.streams, c.reader, args, explainKinds)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		_, answers, err := options.explain(ctx, cmd.Flags())
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return describedFixes(answers, prefix), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// longestDescription is how long a text beside a word may be.
const longestDescription = 100

// describedFixes are the numbers of the fixes of the answers, with what each is. Where there are several answers with fixes, they
// are KIND/NAME:NUMBER.
func describedFixes(answers []*explain.Explanation, prefix string) []string {
	answers = slices.DeleteFunc(slices.Clone(answers), func(e *explain.Explanation) bool { return len(e.Fixes) == 0 })
	var out []string
	for _, e := range answers {
		for i := range e.Fixes {
			word := strconv.Itoa(i + 1)
			if len(answers) > 1 {
				word = fmt.Sprintf("%s/%s:%s", strings.ToLower(e.Subject.Kind), e.Subject.Name, word)
			}
			if strings.HasPrefix(word, prefix) && plainWord(word) {
				out = append(out, word+"\t"+inspect.SanitizeShort(e.Fixes[i].Message, longestDescription))
			}
		}
	}
	return out
}

const (
	serviceAccount = "system:serviceaccount:"
	nodeUser       = "system:node:"
	askersOffered  = "users of Kubernetes' own, nodes, service accounts, and users that FlowSchemas of `--from` name"
	groupsOffered  = "groups of Kubernetes' own"
)

// serviceAccounts are no part of a snapshot.
var serviceAccounts = inspect.OwnerKind{Version: "v1", Resource: "serviceaccounts", Name: "ServiceAccount", Singular: "serviceaccount"}

// askers completes a user: system:serviceaccount:NAMESPACE:NAME and system:node:NAME part by part.
func (c *completer) askers(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if rest, ok := strings.CutPrefix(prefix, serviceAccount); ok {
		namespace, _, named := strings.Cut(rest, ":")
		if !named {
			names, directive := c.namespaces(cmd, args, rest)
			return around(names, serviceAccount, ":"), directive | cobra.ShellCompDirectiveNoSpace
		}
		names := []string{"default"}
		if !c.reader.offline() {
			names = c.namesAt(cmd.Context(), serviceAccounts, namespace)
		}
		return withPrefix(around(names, serviceAccount+namespace+":", ""), nil, prefix)
	}
	if strings.HasPrefix(prefix, nodeUser) {
		return withPrefix(around(c.names(cmd.Context(), inspect.Nodes), nodeUser, ""), nil, prefix)
	}
	words := []string{"system:admin", "system:anonymous", "system:apiserver", "system:kube-controller-manager", "system:kube-proxy", "system:kube-scheduler"}
	for _, start := range []string{serviceAccount, nodeUser} {
		if strings.HasPrefix(start, prefix) {
			words = append(words, start)
		}
	}
	words = append(words, c.usersOfFiles(cmd)...)
	found, directive := withPrefix(words, nil, prefix)
	if !slices.ContainsFunc(found, func(word string) bool { return !strings.HasSuffix(word, ":") }) {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	return found, directive
}

// usersOfFiles are the users that FlowSchemas name.
func (c *completer) usersOfFiles(cmd *cobra.Command) []string {
	if !c.reader.offline() {
		return nil
	}
	snapshot, _ := c.readQuietly(cmd.Context(), []inspect.Resource{inspect.FlowSchemas})
	if snapshot == nil {
		return nil
	}
	var users []string
	for _, schema := range snapshot.Objects().FlowSchemas {
		for _, rule := range schema.Spec.Rules {
			for _, subject := range rule.Subjects {
				switch {
				case subject.User != nil && subject.User.Name != "*":
					users = append(users, subject.User.Name)
				case subject.ServiceAccount != nil && subject.ServiceAccount.Name != "*":
					users = append(users, serviceAccount+subject.ServiceAccount.Namespace+":"+subject.ServiceAccount.Name)
				}
			}
		}
	}
	slices.Sort(users)
	return users
}

// groups completes a group of users.
func (c *completer) groups(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	const ofAccounts = "system:serviceaccounts:"
	if rest, ok := strings.CutPrefix(prefix, ofAccounts); ok {
		names, directive := c.namespaces(cmd, args, rest)
		return around(names, ofAccounts, ""), directive
	}
	return withPrefix([]string{"system:authenticated", "system:masters", "system:nodes", "system:serviceaccounts", ofAccounts, "system:unauthenticated"}, nil, prefix)
}

// around puts something before and behind each word.
func around(words []string, before, behind string) []string {
	out := make([]string, len(words))
	for i, word := range words {
		out[i] = before + word + behind
	}
	return out
}

// subresources are those of resources that have others than status.
var subresources = map[string][]string{
	"pods":                   {"attach", "binding", "ephemeralcontainers", "eviction", "exec", "log", "portforward", "proxy", "resize"},
	"resourceclaims":         {"binding", "driver"},
	"deployments":            {"scale"},
	"replicasets":            {"scale"},
	"statefulsets":           {"scale"},
	"nodes":                  {"proxy"},
	"serviceaccounts":        {"token"},
	"namespaces":             {"finalize"},
	"replicationcontrollers": {"scale"},
}

// apiResources completes RESOURCE, RESOURCE.GROUP once there is a dot, and RESOURCE/SUBRESOURCE once there is a slash.
func apiResources(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	var words []string
	resource, _, sub := strings.Cut(prefix, "/")
	for group, names := range builtInResources {
		for _, name := range strings.Fields(strings.Replace(names, "|", "", 1)) {
			qualified := name
			if strings.Contains(prefix, ".") && group != "" {
				qualified += "." + group
			}
			if sub && resource == qualified {
				words = around(append([]string{"status"}, subresources[name]...), qualified+"/", "")
				return withPrefix(words, nil, prefix)
			}
			words = append(words, qualified)
		}
	}
	slices.Sort(words)
	return withPrefix(words, nil, prefix)
}

// requested completes the name of an object of the resource of --resource.
func (c *completer) requested(flags *requestFlags) completion {
	return func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		name, _, _ := strings.Cut(plainType(flags.resource), "/")
		resource := inspect.Resource(name)
		if !slices.Contains(inspect.Resources(), resource) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return withPrefix(c.names(cmd.Context(), resource), nil, prefix)
	}
}

// urls completes the beginning of a URL of the API server.
func urls(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	words := []string{"/api/v1/", "/apis/", "/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz", "/version"}
	const groups = "/apis/"
	for group, names := range builtInResources {
		switch {
		case group == "" && strings.HasPrefix(prefix, "/api/v1/"):
			words = append(words, around(strings.Fields(strings.Replace(names, "|", "", 1)), "/api/v1/", "")...)
		case group != "" && strings.HasPrefix(prefix, groups):
			words = append(words, groups+group+"/")
		}
	}
	words = slices.DeleteFunc(words, func(word string) bool { return word == prefix })
	slices.Sort(words)
	found, directive := withPrefix(words, nil, prefix)
	return found, directive | cobra.ShellCompDirectiveNoSpace
}

// podPaths completes NAME, or NAMESPACE/NAME once there is a slash.
func (c *completer) podPaths(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	namespace, _, ok := strings.Cut(prefix, "/")
	if !ok {
		return withPrefix(c.names(cmd.Context(), inspect.Pods), nil, prefix)
	}
	return withPrefix(around(c.namesIn(cmd.Context(), inspect.Pods, namespace), namespace+"/", ""), nil, prefix)
}

// changes completes LEVEL.FIELD=VALUE,… of a priority level, up to the value.
func (c *completer) changes(fields []string) completion {
	return func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		level, _, named := strings.Cut(prefix, ".")
		before, _ := splitLast(prefix)
		switch {
		case before == "" && named:
			before = level + "."
		case before == "":
			found, directive := withPrefix(around(c.names(cmd.Context(), inspect.PriorityLevels), "", "."), nil, prefix)
			return found, directive | cobra.ShellCompDirectiveNoSpace
		}
		found, directive := withPrefix(around(fields, before, "="), nil, prefix)
		return found, directive | cobra.ShellCompDirectiveNoSpace
	}
}
