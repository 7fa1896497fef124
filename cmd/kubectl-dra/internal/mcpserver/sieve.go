package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// sieve returns the lines of in that are messages, and answers all others with an error: the SDK ends at the
// first that it cannot read, and the assistant would never hear why. It reads until in ends or the reader is
// closed.
func sieve(in io.Reader, out io.Writer) *io.PipeReader {
	messages, w := io.Pipe()
	go func() {
		lines := bufio.NewReader(in)
		for {
			line, err := nextLine(lines)
			if bad := refusal(line); bad != nil {
				_, _ = out.Write(bad) // who does not read it is found out with the next answer
			} else if len(line) > 0 {
				if _, err := w.Write(append(line, '\n')); err != nil {
					return // nobody reads any more
				}
			}
			if err != nil {
				_ = w.CloseWithError(err) // it has none
				return
			}
		}
	}()
	return messages
}

// nextLine returns the next line without its end. Of one that is too long it returns a part that is too long
// as well.
func nextLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line) <= maxInput {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSpace(line), err //nolint:wrapcheck // of the input
		}
	}
}

// refusal is the answer to a line that is no message, or nil.
func refusal(line []byte) []byte {
	if len(line) == 0 {
		return nil
	}
	code, why := jsonrpc.CodeInvalidRequest, ""
	_, err := jsonrpc.DecodeMessage(line)
	switch {
	case len(line) > maxInput:
		why = fmt.Sprintf("a message has %d bytes at most", maxInput)
	case !json.Valid(line):
		code, why = jsonrpc.CodeParseError, "the line is no JSON"
	case line[0] == '[':
		why = "send one message on each line, not several in one"
	case err != nil:
		why = "the line is no message of JSON-RPC 2.0"
	default:
		return nil
	}
	return fmt.Appendf(nil, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":%d,\"message\":%q}}\n", code, why)
}

// together is a writer for several: what one writes at once stays together.
type together struct {
	mutex sync.Mutex
	out   io.Writer
}

func (t *together) Write(p []byte) (int, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.out.Write(p) //nolint:wrapcheck // of the output
}
