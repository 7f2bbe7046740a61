// Package config reads the configuration of "innsigli serve": flags, variables of the environment and a TOML file, decoded into
// one struct, and makes of it what package server needs.
//
//	conf, faults := config.Read(flags, os.Environ(), variables)
//	if err := faults.Err(); err != nil { … } // names every fault
//	deployment, err := conf.Open(ctx, log, compile)
//	s, err := server.New(ctx, deployment.Server)
//
// A [Deployment] takes changes of the file while the server runs.
package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/server"
	"github.com/innsigli/innsigli/server/internal/telemetry"
	"github.com/innsigli/innsigli/storage/sealed"
)

// Flags are the flags of a server, as package kong reads them. Each is also a variable of the environment:
// --base-url is INNSIGLI_BASE_URL.
type Flags struct {
	Environment   string `required:"" enum:"sandbox,production" placeholder:"ENVIRONMENT" help:"sandbox, with test users in place of people, or production."`
	Listen        string `required:"" placeholder:"ADDRESS" help:"Address to listen on, such as 127.0.0.1:8080."`
	BaseURL       string `required:"" name:"base-url" placeholder:"URL" help:"Address that clients reach the server at, such as https://sign.example."`
	Store         string `required:"" placeholder:"STORE" help:"Where everything is kept: bolt:PATH, bolt:PATH?documents=FOLDER or postgres://HOST/DATABASE."`
	Config        string `placeholder:"FILE" help:"TOML file: [trust], [[timestamp]], [identity-provider], [login], [page], [proxy], [limits], [webhooks], [mail] and [retention]. It is read again on SIGHUP, and when it or a file that it names was changed."`
	MasterKeyFlag `group:"Secrets and TLS:"`
	TLSFlags      `group:"Secrets and TLS:"`
	MailFlag      `group:"Mail:"`
	AdminListen   string `group:"Operating:" placeholder:"ADDRESS" help:"Address to serve metrics and profiles on, without a token, such as :9464. One without a host is this machine's own; empty: nowhere."`
	LogFlags      `group:"Operating:"`
	DrainDelay    time.Duration `group:"Operating:" name:"drain-delay" default:"0s" placeholder:"TIME" help:"How long a server that is to stop still takes requests, while /readyz tells load balancers to send it none (default ${default})."`
	RendererFlag  `group:"Operating:"`
	WebhooksFlag  `group:"Trials:"`
	Simulated     bool `group:"Trials:" name:"insecure-simulated-idp" help:"In production, for trials on this machine: people who are simulated in place of an identity provider log in and sign, certified by an authority of the server's own. Nobody is asked, and every page says so."`

	TestKeysFlag `kong:"-"` // of "innsigli sandbox" alone
}

// CommandFlags are the flags of a command that does a part of a server's work, beside that of its store.
type CommandFlags struct {
	Environment string `enum:"sandbox,production" default:"production" placeholder:"ENVIRONMENT" help:"That of the servers on the store: sandbox or production (default ${default})."`
	Config      string `placeholder:"FILE" help:"The configuration of the servers."`
	MasterKeyFlag
	Simulated bool `name:"insecure-simulated-idp" help:"The servers have simulated people in place of an identity provider."`
}

// Flags returns the flags of a server with the same configuration, which listens nowhere else than on this machine.
func (f CommandFlags) Flags(store string) Flags {
	return Flags{
		Environment: f.Environment, Listen: "127.0.0.1:0", BaseURL: "http://localhost", Store: store,
		Config: f.Config, MasterKeyFlag: f.MasterKeyFlag, Simulated: f.Simulated,
	}
}

// WebhooksFlag lets webhooks go where they may be for trials alone.
type WebhooksFlag struct {
	PrivateWebhooks bool `name:"insecure-allow-private-webhooks" help:"Let the URLs of webhooks be http, and lead to this machine and private networks: for trials. In production it needs a base URL on this machine."`
}

// TestKeysFlag is the kind of key of new test users.
type TestKeysFlag struct {
	TestKeys sandbox.KeyType `name:"sandbox-keys" enum:"p256,rsa3072" default:"p256" placeholder:"KIND" help:"Kind of key that new test users get: p256 or rsa3072 (default ${default})."`
}

// StoreHelp explains the flag --store, for the help of commands.
const StoreHelp = "A store of the form bolt:PATH is a file and the folder PATH.documents beside it, for one server; with ?documents=FOLDER its documents are in that folder. One of the form postgres://USER@HOST/DATABASE is a database, for any number of servers; its tables are made at the start. A store of an earlier version is brought to this one at the start, and the version before cannot use a file after that: keep a copy. A URL with a password is better given in INNSIGLI_STORE, where other users of the machine do not see it."

// LogFlags say what a log has.
type LogFlags struct {
	LogLevel  slog.Level `name:"log-level" default:"info" placeholder:"LEVEL" help:"The least that is logged to stderr: debug, with every call to the identity provider, info, warn or error (default ${default})."`
	LogFormat string     `name:"log-format" enum:"auto,json,text" default:"auto" placeholder:"FORMAT" help:"json, an object a line; text; or auto, which is text on a terminal and else json (default ${default})."`
}

// Log returns a log that is written to w.
func (f LogFlags) Log(w io.Writer) *slog.Logger {
	o := &slog.HandlerOptions{Level: f.LogLevel}
	if f.LogFormat == "text" || f.LogFormat == "auto" && IsTerminal(w) {
		return slog.New(slog.NewTextHandler(w, o))
	}
	return slog.New(slog.NewJSONHandler(w, o))
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	stat, err := file.Stat()
	return err == nil && stat.Mode()&os.ModeCharDevice != 0
}

// Faults are what is wrong with a configuration, each with the flag, variable or key that it is about, such as
// "timestamp[1].url: is missing". They do not repeat secrets.
type Faults []string

// Err returns an error that has all of them; nil when there is none.
func (f Faults) Err() error {
	if len(f) == 0 {
		return nil
	}
	return errors.New("the configuration is faulty:\n  " + strings.Join(f, "\n  "))
}

func (f *Faults) add(key, format string, args ...any) {
	*f = append(*f, key+": "+fmt.Sprintf(format, args...))
}

// about reports whether there is a fault of a key, or of a part of it.
func (f Faults) about(key string) bool {
	return slices.ContainsFunc(f, func(fault string) bool { return strings.HasPrefix(fault, key) })
}

// Config is a configuration.
type Config struct {
	Flags Flags
	File
	Store     Store
	tls       *tlsFiles // nil: plain HTTP
	collector telemetry.Collector
}

// Read reads a configuration, and finds all of its faults. environ is the environment, as of [os.Environ], and variables
// are the names of those that the program knows: a variable that is none of them and resembles one is a fault.
func Read(f Flags, environ, variables []string) (*Config, Faults) {
	c := &Config{Flags: f}
	var found Faults
	if f.Simulated && !f.production() {
		found.add("--insecure-simulated-idp", "is for production; a sandbox has test users")
	}
	f.checkAddresses(&found)
	f.checkBaseURL(&found)
	if f.Mail != "" && !f.production() {
		found.add("--mail", "is for production; a sandbox sends no mail")
	}
	store, err := ParseStore(f.Store)
	if err != nil {
		found.add("--store", "is not of the form %s", StoreForms)
	} else {
		c.Store = store
		f.checkMasterKey(store, &found)
	}
	if f.DrainDelay < 0 || f.DrainDelay > maxDrain {
		found.add("--drain-delay", "is not between 0s and %v", maxDrain)
	}
	checkVariables(environ, variables, &found)
	file, more := f.readFile(f.Config)
	c.File = file
	c.tls = f.files(&found)
	c.collector = telemetry.ReadCollector(os.Getenv, func(name, text string) { found.add(name, "%s", text) })
	_ = f.transport(file.Mail, f.BaseURL, nil, &more)
	return c, append(found, more...)
}

// maxDrain is longer than any load balancer needs.
const maxDrain = 10 * time.Minute

func (f Flags) production() bool { return f.Environment == "production" }

func (f Flags) environment() server.Environment {
	switch {
	case f.Simulated:
		return server.Trial
	case f.production():
		return server.Production
	}
	return server.Sandbox
}

// base is the base URL, which paths come after.
func (f Flags) base() string { return strings.TrimSuffix(f.BaseURL, "/") }

// checkBaseURL: tokens and documents are sent to the base URL. The flags that weaken something are for a server of this
// machine.
func (f Flags) checkBaseURL(found *Faults) {
	if f.BaseURL == "" && !f.production() { // of the command sandbox, which takes that of its listener
		return
	}
	e := f.environment()
	if e == server.Trial { // whose own fault is that of its flag
		e = server.Production
	}
	if err := server.CheckBaseURL(e, f.BaseURL); err != nil {
		found.add("--base-url", "%v", err)
	}
	u, err := url.Parse(f.BaseURL)
	if err != nil || u.Host == "" || isLoopback(u.Hostname()) {
		return
	}
	if f.Simulated { // spec 7.4
		found.add("--insecure-simulated-idp", "is for a --base-url on this machine, such as http://localhost:8080")
	}
	if f.production() && f.PrivateWebhooks {
		found.add("--insecure-allow-private-webhooks", "is in production for a --base-url on this machine, such as http://localhost:8080")
	}
}

func (f Flags) checkAddresses(found *Faults) {
	host, err := hostOf(f.listen())
	switch {
	case err != nil:
		found.add("--listen", "%q is no address with a port", f.Listen)
	case f.Simulated && !isLoopback(host):
		found.add("--listen", "is not on this machine, as --insecure-simulated-idp needs it: such as 127.0.0.1:8080")
	}
	if _, err := hostOf(f.AdminListen); f.AdminListen != "" && err != nil {
		found.add("--admin-listen", "%q is no address with a port", f.AdminListen)
	}
}

// listen is the address that the server listens at: in a trial on this machine alone, since anyone may
// claim to be anyone there.
func (f Flags) listen() string {
	if f.Simulated {
		return orLoopback(f.Listen)
	}
	return f.Listen
}

// orLoopback is an address to listen at; one without a host gets this machine's own.
func orLoopback(address string) string {
	if host, port, err := net.SplitHostPort(address); err == nil && host == "" {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return address
}

// hostOf is the host of an address to listen at, which has a port.
func hostOf(address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err == nil && port == "" {
		err = errors.New("no port")
	}
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	return host, err
}

func isLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// Exposed reports whether other machines can speak to the server without TLS, and nothing in the
// configuration says why. That is no fault: the server cannot always see where TLS ends.
func (c *Config) Exposed() bool {
	host, _, err := net.SplitHostPort(c.Flags.Listen)
	return c.Flags.production() && !c.Flags.Simulated && err == nil && !isLoopback(host) && c.tls == nil && len(c.proxies.Trusted) == 0
}

// UnknownProxy reports whether requests come through a proxy that the configuration does not name.
func (c *Config) UnknownProxy() bool {
	return c.Flags.production() && strings.HasPrefix(c.Flags.BaseURL, "https:") && c.tls == nil && len(c.proxies.Trusted) == 0
}

// MasterKeyFlag names the file of the keys that secrets in the store are sealed with.
type MasterKeyFlag struct {
	MasterKeyFile string `name:"master-key-file" placeholder:"FILE" help:"Keys that secrets in the store are sealed with, readable by its owner and at most its group: 32 random bytes in Base64 on a line; the first seals, all open. In the sandbox it is made where there is none, and is by default STORE.key, or innsigli-sandbox.key with Postgres. Several servers need the same."`
}

// MasterKeyHelp explains the flag, for the help of commands.
const MasterKeyHelp = "Secrets in the store are lost without the master key: keep a copy of its file, away from those of the store. To change the key, append the new one at the end of the file on all servers and start them again, so that each can open what another seals with it; then move it to the top on all and start them again, which seals with it what the old one sealed; remove the old one when the requests of before are forgotten (24 hours, or what [retention] says)."

// KeyFile returns the path of the keys for a store.
func (f MasterKeyFlag) KeyFile(s Store) string {
	switch {
	case f.MasterKeyFile != "":
		return f.MasterKeyFile
	case s.InPostgres():
		return "innsigli-sandbox.key"
	}
	return s.Path + ".key"
}

// checkMasterKey: in production no key is made by itself, since losing it would lose
// what it sealed.
func (f Flags) checkMasterKey(s Store, found *Faults) {
	if f.production() && f.MasterKeyFile == "" {
		found.add("--master-key-file", "is missing, and production needs one")
		return
	}
	_, err := sealed.ReadFile(f.KeyFile(s))
	if err != nil && (f.production() || !errors.Is(err, fs.ErrNotExist)) {
		found.add("--master-key-file", "%v", err)
	}
}
