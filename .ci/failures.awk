# Shows what a `go test -v` printed about the tests that failed, and nothing about the others: the
# output of tests that ran in parallel is put together again by test. At most `most` lines of a test
# are shown, its last ones. A package that failed without a failed test (it did not compile, panicked,
# or took too long) is shown by its last lines.
BEGIN { if (!most) most = 60 }

# keep adds a line to what is known of a test.
function keep(test, text) { lines[test, ++count[test]] = text }

function show(test, title,    i, from) {
  print title
  from = count[test] > most ? count[test] - most + 1 : 1
  if (from > 1) print "    ... (" from - 1 " lines before)"
  for (i = from; i <= count[test]; i++) print lines[test, i]
}

# What the compiler says stands before the packages, under a line with the package's name.
/^# / { compiling = 1 }
/^(===|---|ok|FAIL|\?)/ { compiling = 0 }
compiling { print; next }

/^=== (RUN|CONT|NAME|PAUSE) / { current = $3; next }

/^ *--- (PASS|FAIL|SKIP): / {
  if ($2 == "FAIL:") { failed[++failures] = $3; title[$3] = $0 }
  next
}

/^(ok|FAIL|\?)[ \t]+[^ \t]/ {
  if ($1 == "FAIL") {
    if (!failures) show("", "last lines of " $2 ":")
    for (i = 1; i <= failures; i++) show(failed[i], title[failed[i]])
    print
  }
  delete lines; delete count; delete failed; delete title
  failures = 0
  current = ""
  next
}

/^(PASS|FAIL)$/ { next }

{ keep(current, $0); if (current != "") keep("", $0) }

END { if (count[""]) show("", "last lines of all:") }
