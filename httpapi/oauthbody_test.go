package httpapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// RFC 6749 5.2: a request that did not come whole is answered as every other that is none.
func TestParametersThatBreakOff(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).client(t)
	for _, path := range []string{"/api/v1/auth/token", "/api/v1/auth/revoke"} {
		for kind, body := range map[string]string{formType: "grant_type=client_credentials", "application/json": `{"grant_type":`} {
			t.Run(path+" "+kind, func(t *testing.T) {
				c := c.in(t)
				c.wantOAuthError(c.brokenOff(path, kind, body), http.StatusBadRequest, "invalid_request")
			})
		}
	}
}

// brokenOff gets the answer to a body that ends a byte early.
func (c *client) brokenOff(path, kind, body string) answer {
	c.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(c.url, "http://"))
	if err != nil {
		c.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: broken\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", path, kind, len(body)+1, body)
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		c.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		c.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		c.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, content}
}
