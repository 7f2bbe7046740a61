package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/internal/sealed"
	"github.com/innsigli/innsigli/sandbox"
)

type serveCommand struct {
	Environment string `required:"" enum:"sandbox,production" placeholder:"ENVIRONMENT" help:"sandbox, with test users in place of people, or production."`
	Listen      string `required:"" placeholder:"ADDRESS" help:"Address to listen on, such as 127.0.0.1:8080."`
	BaseURL     string `required:"" name:"base-url" placeholder:"URL" help:"Address that clients reach the server at, such as https://sign.example."`
	Store       string `required:"" placeholder:"STORE" help:"Where everything is kept: bolt:PATH, bolt:PATH?documents=FOLDER or postgres://HOST/DATABASE."`
	masterKeyFlag
	storedRendererFlag
	logFlag
	Config string `placeholder:"FILE" help:"TOML file with the trusted roots, the timestamp authorities and the identity provider. It is read again on SIGHUP, and when it or a file that it names was changed."`
	Check  bool   `help:"Only say what is wrong with the configuration, all of it, and exit."`

	Simulated bool `name:"insecure-simulated-idp" help:"In production, for trials on this machine: people who are simulated in place of an identity provider, certified by an authority of the server's own. Nobody is asked to sign."`
}

func (serveCommand) Help() string {
	return "A configuration that becomes faulty while the server runs is not taken: the one before stays in force, and the faults are in the log. Its [retention], [identity-provider] and [login] are taken when the server starts.\n\n" + storeHelp + "\n\n" + masterKeyHelp + "\n\nExample: innsigli serve --environment sandbox --listen 127.0.0.1:8080 --base-url http://localhost:8080 --store bolt:innsigli.db\n\nExample: innsigli serve --environment production --listen 127.0.0.1:8080 --base-url https://sign.example --store postgres://innsigli@db.example/innsigli --master-key-file master.key --config innsigli.toml"
}

func (c serveCommand) Run(ctx context.Context, s streams) error {
	conf, found := c.read()
	if err := found.err(); err != nil {
		return err
	}
	if c.Check {
		_, err := fmt.Fprintln(s.out, "The configuration has no faults.")
		return err
	}
	place, err := parseStore(c.Store)
	if err != nil {
		return err
	}
	server, err := setup{
		place:      place,
		masterKey:  c.file(place),
		production: c.production(),
		keys:       sandbox.P256,
		provider:   conf.provider,
		simulated:  c.Simulated,
		retention:  conf.retention,
		renderer:   c.cacheBeside(place),
		log:        c.log(s.talk),
	}.open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(c.serve(ctx, server, conf, place), server.close())
}

// read reads what the flags and the file say, and finds every fault in both.
func (c serveCommand) read() (conf configuration, found faults) {
	if c.Simulated && !c.production() {
		found.add("--insecure-simulated-idp", "is for production; a sandbox has test users")
	}
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		found.add("--listen", "%q is no address with a port", c.Listen)
	}
	c.checkBaseURL(&found)
	if place, err := parseStore(c.Store); err != nil {
		found.add("--store", "is not of the form %s", storeForms)
	} else {
		c.checkMasterKey(place, &found)
	}
	conf, more := c.readFile(c.Config)
	return conf, append(found, more...)
}

// readFile reads the file of a configuration; there may be none, but in production.
func (c serveCommand) readFile(path string) (conf configuration, found faults) {
	conf.retention = defaultRetention
	if path != "" {
		conf, found = readConfiguration(path)
	}
	if c.production() && !c.Simulated {
		conf.required(&found)
	}
	return conf, found
}

// checkMasterKey: in production nobody makes a key by the way, since losing it would lose
// what it sealed.
func (c serveCommand) checkMasterKey(of place, found *faults) {
	if c.production() && c.MasterKeyFile == "" {
		found.add("--master-key-file", "is missing, and production needs one")
		return
	}
	_, err := sealed.ReadFile(c.file(of))
	if err != nil && (c.production() || !errors.Is(err, fs.ErrNotExist)) {
		found.add("--master-key-file", "%v", err)
	}
}

func (c serveCommand) production() bool { return c.Environment == "production" }

// checkBaseURL: tokens and documents go there, so others may not read along.
func (c serveCommand) checkBaseURL(found *faults) {
	u, err := url.Parse(c.BaseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		found.add("--base-url", "%q is no http or https URL of a server", c.BaseURL)
		return
	}
	if loopback(u.Hostname()) {
		return
	}
	if c.production() && u.Scheme == "http" {
		found.add("--base-url", "is not https, and not on this machine")
	}
	if c.Simulated {
		found.add("--insecure-simulated-idp", "is for a --base-url on this machine, such as http://localhost:8080")
	}
}

func loopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

func (c serveCommand) serve(ctx context.Context, server *server, conf configuration, in place) error {
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	base := strings.TrimSuffix(c.BaseURL, "/")
	group, ctx := errgroup.WithContext(ctx)
	if c.Config != "" {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGHUP)
		defer signal.Stop(signals)
		server.evidence.take(conf)
		r := &reload{path: c.Config, read: c.readFile, evidence: server.evidence, started: conf.atStart, log: server.log, seen: conf.versions}
		group.Go(func() error { return r.watch(ctx, signals) })
	}
	group.Go(func() error {
		return server.serve(ctx, listener, base, in.socket(), func() error {
			server.log.Info("listening", "address", listener.Addr().String(), "baseURL", base)
			return nil
		})
	})
	return group.Wait()
}
