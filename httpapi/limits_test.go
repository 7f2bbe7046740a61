package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/httpapi"
	"github.com/innsigli/innsigli/internal/admission"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/storage"
)

// rateLimits has the rate of production for clients (spec 1.9), and a low one for unauthenticated calls.
var rateLimits = wiring{limits: httpapi.Limits{
	Client:  storage.Rate{PerSecond: 20, Burst: 60},
	Address: storage.Rate{PerSecond: 1, Burst: 30},
}}

const tooOften = "Too many requests"

// allowedCalls returns how many of n calls are allowed, and checks the headers of all.
func (c *client) allowedCalls(n int) (through int) {
	c.Helper()
	for range n {
		a := c.call(http.MethodPost, "/api/v1/signing/busy-signal", nil)
		diff(c.T, "RateLimit-Policy", `"client";q=60;w=3`, a.header.Get("RateLimit-Policy"))
		if a.status == http.StatusOK {
			through++
			continue
		}
		c.wantProblem(a, http.StatusTooManyRequests, tooOften)
		diff(c.T, "Retry-After", "1", a.header.Get("Retry-After"))
		diff(c.T, "RateLimit", `"client";r=0;t=3`, a.header.Get("RateLimit"))
	}
	return through
}

// spec 1.9: 20 requests a second with a burst of 60 for each client.
func TestRateOfAClient(t *testing.T) {
	t.Parallel()
	bubble(t, rateLimits, func(t *testing.T, s *server) {
		c := s.signer(t)
		a := c.call(http.MethodPost, "/api/v1/signing/busy-signal", nil)
		diff(t, "RateLimit", `"client";r=59;t=1`, a.header.Get("RateLimit"))
		diff(t, "at once", 59, c.allowedCalls(70))
		diff(t, "of a colleague", 60, c.colleague(account.ScopeSignatures).allowedCalls(70))
		time.Sleep(time.Second) // as Retry-After said
		diff(t, "a second later", 20, c.allowedCalls(30))
		time.Sleep(10 * time.Minute)
		diff(t, "after a pause", 60, c.allowedCalls(70))
	})
}

// spec 1.9: a poll is never answered 429.
func TestPollsAreNotLimited(t *testing.T) {
	t.Parallel()
	bubble(t, rateLimits, func(t *testing.T, s *server) {
		c := s.signer(t)
		c.allowedCalls(70)
		for range 100 {
			a := c.call(http.MethodGet, "/api/v1/signing/"+uuid.NewString(), nil)
			diff(t, "status", http.StatusNotFound, a.status)
			diff(t, "RateLimit", "", a.header.Get("RateLimit"))
		}
		diff(t, "beside polls", 0, c.allowedCalls(1))
		c.token = strings.Repeat("x", 43)
		for range 100 { // of a client whose token has expired, say
			a := c.sendFrom("192.0.2.66", c.request(http.MethodGet, "/api/v1/signing/"+uuid.NewString(), nil))
			diff(t, "status of a stranger", http.StatusUnauthorized, a.status)
		}
	})
}

// A call with a token of another scope counts against its client, and not against its address.
func TestRateOfAnotherScope(t *testing.T) {
	t.Parallel()
	bubble(t, rateLimits, func(t *testing.T, s *server) {
		c := s.signer(t).colleague(account.ScopePortalRead)
		call := func() answer {
			return c.sendFrom("192.0.2.66", c.request(http.MethodPost, "/api/v1/signing/busy-signal", nil))
		}
		known := c.token
		c.token = strings.Repeat("x", 43)
		for range 31 {
			call()
		}
		c.token = known
		for range 60 {
			diff(t, "status", http.StatusForbidden, call().status)
		}
		a := call()
		c.wantProblem(a, http.StatusTooManyRequests, tooOften)
		diff(t, "RateLimit-Policy", `"client";q=60;w=3`, a.header.Get("RateLimit-Policy"))
	})
}

// sendFrom sends a request from an address.
func (c *client) sendFrom(address string, r *http.Request) answer {
	c.Helper()
	r.Header.Set(addressHeader, address)
	return c.send(r)
}

// sendSecret sends a secret to an endpoint that authenticates clients.
func (c *client) sendSecret(path, address, id, secret string) answer {
	c.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "token": {"none"}, "client_id": {id}, "client_secret": {secret}}
	r := c.request(http.MethodPost, path, form.Encode())
	r.Header.Del("Authorization")
	r.Header.Set("Content-Type", formType)
	return c.sendFrom(address, r)
}

// Wrong secrets are limited for each client and address. The client at another address, other clients at the same
// address, and calls with a token are not affected.
func TestWrongSecrets(t *testing.T) {
	t.Parallel()
	w := rateLimits
	w.limits.Address = storage.Rate{PerSecond: 1000, Burst: 100_000}
	bubble(t, w, func(t *testing.T, s *server) {
		c := s.signer(t)
		other := c.colleague(account.ScopeSignatures)
		const stranger = "192.0.2.66"
		wrong, refused := 0, 0
		for i := range 1000 {
			switch a := c.sendSecret([]string{tokens, revocation}[i%2], stranger, c.id, strings.Repeat("x", 43)); a.status {
			case http.StatusUnauthorized:
				wrong++
			default:
				c.wantProblem(a, http.StatusTooManyRequests, tooOften)
				refused++
			}
		}
		if wrong != 20 || refused != 980 {
			t.Errorf("%d guesses were judged, %d were not", wrong, refused)
		}
		for _, path := range []string{tokens, revocation} {
			diff(t, "the right one from there", http.StatusTooManyRequests, c.sendSecret(path, stranger, c.id, c.secret).status)
			diff(t, "from elsewhere", http.StatusOK, c.sendSecret(path, "192.0.2.67", c.id, c.secret).status)
			diff(t, "another client from there", http.StatusOK, c.sendSecret(path, stranger, other.id, other.secret).status)
		}
		diff(t, "a token from there", http.StatusOK, c.sendFrom(stranger, c.request(http.MethodPost, "/api/v1/signing/busy-signal", nil)).status)
		time.Sleep(2 * time.Second)
		diff(t, "later", http.StatusOK, c.sendSecret(tokens, stranger, c.id, c.secret).status)
		for range 100 { // what is right is no guess
			diff(t, "again and again", http.StatusOK, c.sendSecret(tokens, stranger, c.id, c.secret).status)
		}
	})
}

// An address that sends too many unauthenticated calls gets 429. Authenticated calls from it do not.
func TestUnauthenticatedCalls(t *testing.T) {
	t.Parallel()
	bubble(t, rateLimits, func(t *testing.T, s *server) {
		c := s.signer(t)
		known, unknown := c.token, strings.Repeat("x", 43)
		call := func(address, token string) answer {
			t.Helper()
			c.token = token
			return c.sendFrom(address, c.request(http.MethodPost, "/api/v1/signing/busy-signal", nil))
		}
		for range 30 {
			diff(t, "status", http.StatusUnauthorized, call("2001:db8::1", unknown).status)
		}
		a := call("2001:db8::2", unknown) // of the same site
		c.wantProblem(a, http.StatusTooManyRequests, tooOften)
		if n, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || n != 1 {
			t.Errorf("Retry-After is %q", a.header.Get("Retry-After"))
		}
		diff(t, "the challenge", "", a.header.Get("WWW-Authenticate"))
		diff(t, "RateLimit-Policy", `"address";q=30;w=30`, a.header.Get("RateLimit-Policy"))
		c.wantProblem(c.sendSecret(tokens, "2001:db8::1", c.id, c.secret), http.StatusTooManyRequests, tooOften)
		diff(t, "who is known", http.StatusOK, call("2001:db8::1", known).status)
		diff(t, "another address", http.StatusUnauthorized, call("2001:db8:0:1::1", unknown).status)
		for range 100 {
			diff(t, "this machine, where a proxy may be", http.StatusUnauthorized, call("127.0.0.1", unknown).status)
		}
	})
}

// slowAccounts takes a second to accept any secret.
type slowAccounts struct{ httpapi.Accounts }

func (slowAccounts) Issue(context.Context, string, string, []string) (account.Token, error) {
	time.Sleep(time.Second) // time: in a bubble
	return account.Token{}, nil
}

// Programs that share a client and start at the same moment all get their tokens, because only wrong secrets count.
func TestRightSecretsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		api := httpapi.New(httpapi.Config{Accounts: slowAccounts{}, Limits: httpapi.Limits{Address: storage.Rate{PerSecond: 10, Burst: 100}}})
		statuses := make([]int, 90)
		var all sync.WaitGroup
		for i := range statuses {
			all.Go(func() {
				r := httptest.NewRequest(http.MethodPost, tokens, strings.NewReader("grant_type=client_credentials&client_id=archive&client_secret=right"))
				r.Header.Set("Content-Type", formType)
				r.RemoteAddr = "203.0.113.1:1024"
				w := httptest.NewRecorder()
				api.ServeHTTP(w, r)
				statuses[i] = w.Code
			})
		}
		all.Wait()
		for i, status := range statuses {
			if status != http.StatusOK {
				t.Fatalf("program %d is answered %d", i, status)
			}
		}
	})
}

// sendHead sends the header of a request whose body has size bytes, and returns the connection.
func (c *client) sendHead(path string, size int) net.Conn {
	c.Helper()
	conn, err := c.dial(c.Context(), "tcp", strings.TrimPrefix(c.url, "http://"))
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { conn.Close() })
	if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: room\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", path, c.token, size); err != nil {
		c.Fatal(err)
	}
	return conn
}

// Bodies with documents share a byte budget. A request that gets no share waits, and is then answered 503. One
// account gets at most half, so that others can proceed.
func TestRequestBudget(t *testing.T) {
	t.Parallel()
	underWay := make(map[string]func() int64)
	watch := func(what string, bytes func() int64) { underWay[what] = bytes }
	w := wiring{breaks: true, limits: httpapi.Limits{Documents: 60 * mebibyte, Watch: watch}}
	bubble(t, w, func(t *testing.T, s *server) {
		c := s.signer(t)
		c.user(person)
		slow := c.sendHead("/api/v1/signing", 25*mebibyte)
		synctest.Wait()
		diff(t, "under way", int64(25*mebibyte), underWay["requests"]())
		began := time.Now()
		body := sized(t, 10*mebibyte)
		a := c.call(http.MethodPost, "/api/v1/signing", body)
		c.wantProblem(a, http.StatusServiceUnavailable, "Service unavailable")
		diff(t, "Retry-After", "2", a.header.Get("Retry-After"))
		diff(t, "waited", 10*time.Second, time.Since(began))

		other := s.signer(t)
		other.user(person)
		diff(t, "another account", http.StatusOK, other.call(http.MethodPost, "/api/v1/signing", body).status)
		diff(t, "a small one", http.StatusOK, c.call(http.MethodPost, "/api/v1/signing", startBody(idpApp)).status)

		waits := make(chan int)
		go func() { waits <- c.call(http.MethodPost, "/api/v1/signing", body).status }()
		time.Sleep(5 * time.Second)
		slow.Close()
		diff(t, "once there is room", http.StatusOK, <-waits)
		s.stop()
		for what, bytes := range underWay {
			diff(t, what+" in the end", int64(0), bytes())
		}
	})
}

// Answers with documents share a byte budget. A later poll gets a result that could not be sent, or whose client
// closed the connection.
func TestAnswerBudget(t *testing.T) {
	t.Parallel()
	w := wiring{breaks: true, limits: httpapi.Limits{Documents: 2000}} // every document counts as a whole share
	bubble(t, w, func(t *testing.T, s *server) {
		c := s.signer(t)
		c.user(person)
		large := fields{"file.contentB64": pdftest.Build(pdftest.Options{Payload: mebibyte})}
		first, second := c.begin(startBody(idpSim).with(large)), c.begin(startBody(idpSim).with(large))
		slow, err := c.dial(t.Context(), "tcp", strings.TrimPrefix(c.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(slow, "GET /api/v1/signing/%s HTTP/1.1\r\nHost: room\r\nAuthorization: Bearer %s\r\n\r\n", first, c.token)
		if _, err := io.CopyN(io.Discard, slow, 1000); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		a := c.poll(second)
		c.wantProblem(a, http.StatusServiceUnavailable, "Service unavailable")
		diff(t, "Retry-After", "2", a.header.Get("Retry-After"))
		diff(t, "waited", 10*time.Second, time.Since(began))
		slow.Close()
		synctest.Wait()
		c.signed(c.poll(second))
		c.signed(c.poll(first))
	})
}

// A client that is refused while it sends its body gets the answer, and can use the connection for another request.
func TestRefusedWhileSending(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.token = "none of its tokens"
	conn := c.sendHead("/api/v1/signing", 25*mebibyte)
	sent := make(chan error, 1)
	go func() {
		_, err := io.CopyN(conn, endless{}, 25*mebibyte)
		sent <- err
	}()
	if err := <-sent; err != nil { // first it sends, and then it reads
		t.Fatal(err)
	}
	r := bufio.NewReader(conn)
	response, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "status", http.StatusUnauthorized, response.StatusCode)
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET /healthz HTTP/1.1\r\nHost: room\r\n\r\n")
	if response, err = http.ReadResponse(r, nil); err != nil {
		t.Fatal(err)
	}
	diff(t, "the next", http.StatusOK, response.StatusCode)
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// Parts of bodies that are held in memory share a byte budget. Short bodies do not need a share.
func TestBodyBudget(t *testing.T) {
	t.Parallel()
	bubble(t, wiring{breaks: true}, func(t *testing.T, s *server) {
		c := s.signer(t)
		var slow []net.Conn
		for range 4 { // 8 MiB each may be needed, of 32 for an account
			conn := c.sendHead("/api/v1/signing", 5*mebibyte)
			if _, err := io.WriteString(conn, `{"ignored":"`+strings.Repeat("x", 200<<10)); err != nil {
				t.Fatal(err)
			}
			slow = append(slow, conn)
		}
		synctest.Wait()
		much := `{"ignored":"` + strings.Repeat("x", 100<<10) + `"}`
		a := c.call(http.MethodPost, "/api/v1/signing", much)
		c.wantProblem(a, http.StatusServiceUnavailable, "Service unavailable")
		diff(t, "little", http.StatusOK, c.call(http.MethodPost, "/api/v1/signing/busy-signal", `{"ignored":"`+strings.Repeat("x", 10<<10)+`"}`).status)
		diff(t, "much for another path", http.StatusServiceUnavailable, c.call(http.MethodPost, "/api/v1/signing/busy-signal", much).status)
		slow[0].Close()
		synctest.Wait()
		diff(t, "then", http.StatusOK, c.call(http.MethodPost, "/api/v1/signing/busy-signal", much).status)
	})
}

// A client that sends its body too slowly gets 400, and nothing of its document is stored.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	w := wiring{breaks: true, around: admission.MinRate{Grace: 10 * time.Second, Rate: 1000}.Handler}
	bubble(t, w, func(t *testing.T, s *server) {
		c := s.signer(t)
		conn := c.sendHead("/api/v1/signing", 4*mebibyte)
		if _, err := io.WriteString(conn, sized(t, 4*mebibyte)[:2*mebibyte]); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		diff(t, "after", 10*time.Second, time.Since(began))
		diff(t, "status", http.StatusBadRequest, response.StatusCode)
		if body := string(readAll(t, response.Body)); !strings.Contains(body, "too slowly") {
			t.Error(body)
		}
		conn.Close()
		synctest.Wait()
		c.wantDocuments(0)
	})
}
