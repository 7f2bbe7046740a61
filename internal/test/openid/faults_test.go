package openid_test

import (
	"crypto"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

func TestFaultsHappenInTheirOrder(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	p.Fault(openidtest.Fault{Endpoint: openidtest.JWKS, Times: 2, Status: 503, Header: map[string]string{"Retry-After": "7"}})
	p.Fault(openidtest.Fault{Endpoint: openidtest.JWKS, Status: 200, Body: "<html>", Slow: time.Millisecond})
	p.Fault(openidtest.Fault{Endpoint: openidtest.JWKS})
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // or it repeats what was cut
	var got []string
	for range 5 {
		resp, err := client.Get(p.URL(openidtest.JWKS))
		if err != nil {
			got = append(got, "cut")
			continue
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(string(body), `{"keys":`) {
			body = []byte("keys")
		}
		got = append(got, resp.Status[:3]+resp.Header.Get("Retry-After")+string(body))
	}
	if diff := cmp.Diff([]string{"5037", "5037", "200<html>", "cut", "200keys"}, got); diff != "" {
		t.Error(diff)
	}
	statuses := []int{}
	for _, call := range p.Calls() {
		statuses = append(statuses, call.Status)
	}
	if diff := cmp.Diff([]int{503, 503, 200, 0, 200}, statuses); diff != "" {
		t.Error(diff)
	}
}

// What is handled is done, whether or not the client hears of it.
func TestAnAnswerIsLost(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	p.Person(jon(t))
	for name, test := range map[string]struct {
		handled bool
		want    any // the error of the second time
	}{
		"with what it brought": {true, "invalid_grant"},
		"before it was made":   {false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			id := asked(t, p, sign("app-sign", jon(t).Kennitala, crypto.SHA512))
			p.Fault(openidtest.Fault{Endpoint: openidtest.Token, Handled: test.handled})
			form := url.Values{"grant_type": {"urn:openid:params:grant-type:ciba"}, "auth_req_id": {id}}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL(openidtest.Token), strings.NewReader(form.Encode()))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			req.SetBasicAuth(p.ClientID, p.Secret)
			if _, err := http.DefaultClient.Do(req); !errors.Is(err, io.EOF) {
				t.Errorf("the first time: %v", err)
			}
			if _, got := poll(t, p, id); got["error"] != test.want {
				t.Errorf("the second time: %v", got)
			}
		})
	}
}
