package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// storedAs is the beginning of the keys in etcd at which the API server keeps the objects of a resource.
func storedAs(resource string) string {
	if resource == "nodes" {
		resource = "minions" // their name before Kubernetes 1.0
	}
	return "/registry/" + resource + "/"
}

// keyRange are keys of etcd from Key up to but without End, or Key alone when End is empty.
type keyRange struct {
	Key []byte `json:"key"`
	End []byte `json:"range_end,omitempty"`
}

// keysBelow are all keys that begin with a prefix, which ends with a slash.
func keysBelow(prefix string) keyRange {
	end := []byte(prefix)
	end[len(end)-1]++
	return keyRange{[]byte(prefix), end}
}

// putKey writes a value to etcd and returns the resource version of what it wrote.
func (c *Cluster) putKey(ctx context.Context, key string, value []byte) (string, error) {
	var response etcdResponse
	err := c.callEtcd(ctx, "put", map[string][]byte{"key": []byte(key), "value": value}, &response)
	return response.Header.Revision, err
}

// deleteKeys deletes ranges of keys from etcd in one transaction. It returns the resource version of that.
func (c *Cluster) deleteKeys(ctx context.Context, ranges ...keyRange) (string, error) {
	type operation struct {
		Delete keyRange `json:"request_delete_range"`
	}
	var request struct {
		Success []operation `json:"success"`
	}
	for _, r := range ranges {
		request.Success = append(request.Success, operation{r})
	}
	var response etcdResponse
	err := c.callEtcd(ctx, "txn", request, &response)
	return response.Header.Revision, err
}

// etcdResponse is what all answers of etcd have.
type etcdResponse struct {
	Header struct {
		Revision string `json:"revision"`
	} `json:"header"`
}

// callEtcd has etcd do something with its keys, through its JSON gateway.
func (c *Cluster) callEtcd(ctx context.Context, method string, request any, response *etcdResponse) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, c.etcd+"/v3/kv/"+method, bytes.NewReader(body))
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(post)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }() // it has been read
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("etcd answers %s to %s: %s", answer.Status, method, text)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(text, response)
}

// untilSeen waits until the API server has taken note of what was written to etcd: read is a request for what
// is not older than that, which the server may give up waiting for.
func untilSeen(ctx context.Context, read func() error) error {
	for {
		if err := read(); !apierrors.IsTimeout(err) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}
