# Targets for people who work on kubectl-dra. `make help` lists them.

GO ?= go
# Version that the binary reports. Outside a git checkout the Go toolchain's own build information is used.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)
CLI := github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli
LDFLAGS := -s -w $(if $(VERSION),-X $(CLI).version=$(VERSION))

GOLANGCI_LINT_VERSION := v2.15.0
GOLANGCI_LINT := bin/golangci-lint-$(GOLANGCI_LINT_VERSION)

# How long each fuzz target runs, and how long each benchmark.
FUZZTIME ?= 30s
BENCHTIME ?= 1s

# The other systems that the code is vetted for, and the packages that generated files are written from.
CROSS ?= windows/amd64 darwin/arm64
GENERATE ?= ./...

.DEFAULT_GOAL := build

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build the plugin into bin/kubectl-dra
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/kubectl-dra ./cmd/kubectl-dra

.PHONY: test
test: ## run every test that needs no cluster, with a sample of the long comparisons
	$(GO) test ./...

.PHONY: test-all
test-all: ## run every test that needs no cluster, with all that is compared (40 minutes on 2 cores)
	KUBECTL_DRA_TESTS=all $(GO) test -timeout 30m ./...
	$(GO) test -count=1 -timeout 30m ./cmd/kubectl-dra/internal/faults -faults=all

.PHONY: oracles
oracles: ## compare with the allocators of older releases, and with whom they evict (builds them: minutes the first time)
	$(GO) test -count=1 -timeout 30m ./allocator ./internal/checkup -run Releases -oracles

.PHONY: upstream
upstream: ## compare the sources of Kubernetes releases, VERSIONS="1.37.1 1.37.2", all, or what is new
	$(GO) run ./internal/upstream $(VERSIONS)

.PHONY: bench
bench: ## run the benchmarks, and no tests
	$(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) ./...

.PHONY: performance
performance: ## measure beside the scheduler's allocator, and the terminal UI, and write docs/performance.md
	@{ cat internal/benchtable/intro.md && { \
	$(GO) test -run '^$$' -bench 'Families|AllocateRatio|Small|Explain|Plans' -benchtime 3x ./allocator ./explain/... && \
	$(GO) test -run '^$$' -bench 'Prepare$$' -benchtime 3x ./scheduler/filters && \
	$(GO) test -run '^$$' -bench Frame ./tui && \
	cd e2e && $(GO) test -run '^$$' -bench 'Top|Command|Completion' -benchtime 1x -timeout 30m ./replay; \
	} | $(GO) run ./internal/benchtable; } > docs/performance.tmp
	mv docs/performance.tmp docs/performance.md

.PHONY: reliability
reliability: ## run every command under every fault of an API server, and write the table in docs/reliability.md (6 minutes, on a quiet machine)
	$(GO) test -count=1 -timeout 30m ./cmd/kubectl-dra/internal/faults -faults=all -update

.PHONY: lint
lint: $(GOLANGCI_LINT) ## run golangci-lint, pinned and built from its Go module
	$(GOLANGCI_LINT) run ./...

$(GOLANGCI_LINT):
	GOBIN=$(CURDIR)/bin $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
	mv bin/golangci-lint $@

.PHONY: e2e
e2e: ## run the plugin against a real control plane (builds one: minutes the first time)
	cd e2e && $(GO) test -count=1 -timeout 60m -parallel 6 ./...

# The files of e2e/filters that are about kube-scheduler alone, without this project.
# kube-scheduler of another release is built from the files of e2e/filters that say nothing of this project.
KUBE = $(addprefix filters/,$(addsuffix _test.go,kube_answer kube_preemption kube_protocol kube_scheduler kube_score kube_serve $(1)))

.PHONY: filters-138
filters-138: ## compare filters, scores and preemption with the kube-scheduler of the preview release (builds it with its own Go: minutes the first time)
	cd e2e && GOWORK=off GOTOOLCHAIN=go1.27.3 $(GO) test -c -vet=off -tags kube138 -modfile=kube138.mod -o ../bin/kube138.test $(call KUBE,kube_plugins kube138)
	cd e2e && $(GO) test -v -count=1 -timeout 30m ./filters -run TestRelease138 -kube138 $(CURDIR)/bin/kube138.test

.PHONY: filters-134 filters-135 filters-136
filters-134: ## the same with the kube-scheduler of 1.34
filters-135: ## the same with the kube-scheduler of 1.35
filters-136: ## the same with the kube-scheduler of 1.36
filters-135 filters-136: PLUGINS = kube_plugins
filters-134 filters-135 filters-136: filters-1%:
	cd e2e && GOWORK=off $(GO) test -c -vet=off -tags kube1$* -modfile=kube1$*.mod -o ../bin/kube1$*.test $(call KUBE,kubeolder kube1$* $(PLUGINS))
	cd e2e && $(GO) test -v -count=1 -timeout 30m ./filters -run TestOlderRelease -older-kube $(CURDIR)/bin/kube1$*.test -older-minor $*

# STATES is how many random states make kueue compares.
STATES ?= 10000

.PHONY: kueue
kueue: ## compare decisions about random queues with Kueue itself (builds it: minutes the first time)
	mkdir -p bin
	cd e2e/kueue && GOWORK=off $(GO) test -v -count=1 -timeout 60m . -args -states $(STATES) -out $(CURDIR)/bin/decided.tsv
	$(GO) test -v -count=1 ./scheduler/kueue -run TestDecided -args -answers $(CURDIR)/bin/decided.tsv

.PHONY: kueue-manager
kueue-manager: ## play Jobs in queues on Kueue's own manager, and carry out fixes (builds it: minutes the first time)
	cd e2e && KUBECTL_DRA_TESTS=all $(GO) test -v -count=1 -timeout 60m -run TestKueueManager .

.PHONY: demo
demo: ## explain one claim of the embedded demo cluster
	$(GO) run ./cmd/kubectl-dra explain claim train-0 -n ml --demo

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME
	@$(GO) test -list '^Fuzz' ./... | awk '/^Fuzz/ { name[n++] = $$1 } /^ok/ { for (i = 0; i < n; i++) print $$2, name[i]; n = 0 }' | \
	while read -r pkg target; do \
		echo "fuzz $$pkg $$target for $(FUZZTIME)"; \
		GO=$(GO) .ci/fuzz "$$pkg" "$$target" $(FUZZTIME) || exit 1; \
	done

.PHONY: generate
generate: ## write the generated documents again
	@$(GO) generate $(GENERATE)

.PHONY: screenshots
screenshots: ## draw the pictures in docs/images anew, from the program itself
	$(GO) test ./tui ./cmd/kubectl-dra/internal/cli -run 'Golden(Pictures|Film)' -update

# Programs that check and build releases. Each has a module of its own, which pins it and all that it is made of.
# Neither flags nor place may be seen in them: the SBOMs name the program that wrote them with its checksum.
tool = cd internal/tools/$(1) && GOFLAGS= GOWORK=off CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags '-s -w' -o $(CURDIR)/bin/ tool
bin/goreleaser: internal/tools/goreleaser/go.mod internal/tools/goreleaser/go.sum
	$(call tool,goreleaser)
bin/cyclonedx-gomod: internal/tools/cyclonedx-gomod/go.mod internal/tools/cyclonedx-gomod/go.sum
	$(call tool,cyclonedx-gomod)
bin/actionlint: internal/tools/actionlint/go.mod internal/tools/actionlint/go.sum
	$(call tool,actionlint)
bin/govulncheck: internal/tools/govulncheck/go.mod internal/tools/govulncheck/go.sum
	$(call tool,govulncheck)

.PHONY: workflows
workflows: bin/actionlint ## check the workflows in .github with actionlint
	bin/actionlint -color=false -shellcheck= -pyflakes=

.PHONY: vulnerabilities
vulnerabilities: bin/govulncheck ## ask vuln.go.dev which known vulnerabilities the program can reach
	bin/govulncheck ./...

.PHONY: cross-vet
cross-vet: ## go vet, tests included, for the other systems for which there are releases
	for system in $(CROSS); do CGO_ENABLED=0 GOOS=$${system%/*} GOARCH=$${system#*/} $(GO) vet -trimpath ./... || exit 1; done

.PHONY: release-check
release-check: bin/goreleaser ## check .goreleaser.yaml with goreleaser itself (builds it: minutes the first time)
	bin/goreleaser check

.PHONY: release-build
release-build: bin/goreleaser ## build the program for this platform as a release does
	bin/goreleaser build --snapshot --clean --single-target

.PHONY: snapshot
snapshot: bin/goreleaser bin/cyclonedx-gomod ## build archives, SBOMs, checksums and the krew manifest of all platforms into dist, and look at them
	PATH="$(CURDIR)/bin:$$PATH" bin/goreleaser release --snapshot --clean
	$(MAKE) dist-check

.PHONY: release
release: bin/goreleaser bin/cyclonedx-gomod ## build the same from a tag, as a release; nothing is published
	PATH="$(CURDIR)/bin:$$PATH" bin/goreleaser release --clean --skip=publish
	$(MAKE) dist-check

.PHONY: dist-check
dist-check: ## look at the release in dist: its archives, programs, SBOMs, checksums
	$(GO) test -count=1 ./internal/release -dist $(CURDIR)/dist

.PHONY: krew
krew: ## install the release in dist with krew, as on each platform, and use it (builds krew and kubectl)
	cd e2e && $(GO) test -count=1 -timeout 30m ./krew -dist $(CURDIR)/dist

.PHONY: reproduce
reproduce: bin/goreleaser bin/cyclonedx-gomod ## build the commit that dist was made of again, elsewhere, and compare
	.ci/reproduce

.PHONY: ci
ci: ## everything that a change must pass
	.ci/run

.PHONY: everything
everything: ## the same with all random comparisons in full, fuzzing, and the release for all platforms
	KUBECTL_DRA_TESTS=all .ci/run
