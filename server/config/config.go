// Package config reads the configuration of "innsigli serve" from flags, environment variables and a TOML file into one
// struct, and opens what package server needs.
//
//	conf, faults := config.Read(flags, os.Environ(), variables)
//	if err := faults.Err(); err != nil { … } // names every fault
//	deployment, err := conf.Open(ctx, log, compile)
//	s, err := server.New(ctx, deployment.Server)
//
// A [Deployment] reloads the file when it changes while the server runs.
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

// Flags are the flags of a server, as package kong parses them. Each can also be set by an environment variable: --base-url
// by INNSIGLI_BASE_URL.
type Flags struct {
	Environment   string `required:"" enum:"sandbox,production" placeholder:"ENVIRONMENT" help:"sandbox (with sandbox users in place of people) or production."`
	Listen        string `required:"" placeholder:"ADDRESS" help:"Address to listen on, such as 127.0.0.1:8080."`
	BaseURL       string `required:"" name:"base-url" placeholder:"URL" help:"URL at which clients reach the server, such as https://sign.example."`
	Store         string `required:"" placeholder:"STORE" help:"Where all data is stored: bolt:PATH, bolt:PATH?documents=FOLDER or postgres://HOST/DATABASE."`
	DatabaseFlag  `group:"Secrets and TLS:"`
	Config        string `placeholder:"FILE" help:"TOML file: [trust], [[timestamp]], [identity-provider], [login], [page], [proxy], [limits], [webhooks], [mail] and [retention]. It is read again on SIGHUP, and when it or a file that it names changes."`
	MasterKeyFlag `group:"Secrets and TLS:"`
	TLSFlags      `group:"Secrets and TLS:"`
	MailFlag      `group:"Mail:"`
	AdminListen   string `group:"Operating:" placeholder:"ADDRESS" help:"Address to serve metrics and profiles on, without authentication, such as :9464. Without a host, only this machine can reach them (default: they are not served)."`
	LogFlags      `group:"Operating:"`
	DrainDelay    time.Duration `group:"Operating:" name:"drain-delay" default:"0s" placeholder:"TIME" help:"How long a stopping server still accepts requests, while /readyz tells load balancers to send no more (default ${default})."`
	RendererFlag  `group:"Operating:"`
	WebhooksFlag  `group:"Trials:"`
	Simulated     bool `group:"Trials:" name:"insecure-simulated-idp" help:"For trials in production on this machine: the server simulates the identity provider, and signs with certificates of a test authority of its own. No person is asked, and every page says so."`

	TestKeysFlag `kong:"-"` // only of "innsigli sandbox"
}

// CommandFlags are the flags, beside --store, of a command that does a part of a server's work.
type CommandFlags struct {
	Environment string `enum:"sandbox,production" default:"production" placeholder:"ENVIRONMENT" help:"Environment of the servers that use the store: sandbox or production (default ${default})."`
	Config      string `placeholder:"FILE" help:"Configuration file of the servers that use the store."`
	MasterKeyFlag
	Simulated bool `name:"insecure-simulated-idp" help:"The servers that use the store run with this flag."`
}

// Flags returns the flags of a server with the same configuration that listens only on this machine.
func (f CommandFlags) Flags(store string, database DatabaseFlag) Flags {
	return Flags{
		Environment: f.Environment, Listen: "127.0.0.1:0", BaseURL: "http://localhost", Store: store, DatabaseFlag: database,
		Config: f.Config, MasterKeyFlag: f.MasterKeyFlag, Simulated: f.Simulated,
	}
}

// WebhooksFlag allows webhook URLs that are only for trials.
type WebhooksFlag struct {
	PrivateWebhooks bool `name:"insecure-allow-private-webhooks" help:"Allow webhook URLs that are http, or lead to this machine or private networks: for trials. It requires a base URL on this machine."`
}

// TestKeysFlag sets the kind of key of new sandbox users.
type TestKeysFlag struct {
	TestKeys sandbox.KeyType `name:"sandbox-keys" enum:"p256,rsa3072" default:"p256" placeholder:"KIND" help:"Kind of key of new sandbox users: p256 or rsa3072 (default ${default})."`
}

// StoreHelp explains the flag --store, for the help of commands.
const StoreHelp = "A store of the form bolt:PATH is a file and the folder PATH.documents beside it, for one server; with ?documents=FOLDER its documents are in that folder. A store of the form postgres://USER@HOST/DATABASE is a database, for any number of servers; the server creates its tables when it starts. If the database is on another machine, its URL must verify the certificate of the database server: postgres://USER@HOST/DATABASE?sslmode=verify-full, with &sslrootcert=FILE if an authority of your own issued it. A server that starts migrates a store of an earlier version. The earlier version cannot use a migrated file, so keep a copy. Give a URL with a password in INNSIGLI_STORE, where other users of the machine do not see it."

// LogFlags set the level and the format of the log.
type LogFlags struct {
	LogLevel  slog.Level `name:"log-level" default:"info" placeholder:"LEVEL" help:"Lowest level that is logged to stderr: debug (with every call to the identity provider), info, warn or error (default ${default})."`
	LogFormat string     `name:"log-format" enum:"auto,json,text" default:"auto" placeholder:"FORMAT" help:"json (one object per line), text, or auto: text on a terminal and else json (default ${default})."`
}

// Log returns a logger that writes to w.
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

// Faults are the faults of a configuration. Each begins with the flag, variable or key that it is about, such as
// "timestamp[1].url: is missing". They have no secrets in them.
type Faults []string

// Err returns an error with all faults; nil if there is none.
func (f Faults) Err() error {
	if len(f) == 0 {
		return nil
	}
	return errors.New("the configuration is faulty:\n  " + strings.Join(f, "\n  "))
}

func (f *Faults) add(key, format string, args ...any) {
	*f = append(*f, key+": "+fmt.Sprintf(format, args...))
}

// about reports whether there is a fault of a key, or of a key below it.
func (f Faults) about(key string) bool {
	return slices.ContainsFunc(f, func(fault string) bool { return strings.HasPrefix(fault, key) })
}

// Config is the configuration of a server.
type Config struct {
	Flags Flags
	File
	Store     Store
	tls       *tlsFiles // nil: plain HTTP
	collector telemetry.Collector
}

// Read reads a configuration and finds all of its faults. environ is the environment, as [os.Environ] returns it, and
// variables has the names of the environment variables that the program reads. A variable that is not among them but
// resembles one is a fault.
func Read(f Flags, environ, variables []string) (*Config, Faults) {
	c := &Config{Flags: f}
	var found Faults
	if f.Simulated && !f.production() {
		found.add("--insecure-simulated-idp", "is for production; a sandbox has sandbox users")
	}
	f.checkAddresses(&found)
	f.checkBaseURL(&found)
	if f.Mail != "" && !f.production() {
		found.add("--mail", "is for production; a sandbox sends no mail")
	}
	store, err := ParseStore(f.Store, f.DatabaseFlag)
	switch {
	case errors.Is(err, ErrStore):
		found.add("--store", "must have the form %s", StoreForms)
	case err != nil:
		found = append(found, strings.Replace(err.Error(), "postgres: ", "", 1))
	default:
		c.Store = store
		f.checkMasterKey(store, &found)
	}
	if f.DrainDelay < 0 || f.DrainDelay > maxDrain {
		found.add("--drain-delay", "must be between 0s and %v", maxDrain)
	}
	checkVariables(environ, variables, &found)
	file, more := f.readFile(f.Config)
	c.File = file
	c.tls = f.files(&found)
	c.collector = telemetry.ReadCollector(os.Getenv, func(name, text string) { found.add(name, "%s", text) })
	_ = f.transport(file.Mail, f.BaseURL, nil, &more)
	return c, append(found, more...)
}

// maxDrain is the longest --drain-delay. Load balancers need less.
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

// base returns the base URL without a slash at its end.
func (f Flags) base() string { return strings.TrimSuffix(f.BaseURL, "/") }

// checkBaseURL checks the base URL, and that flags which weaken security are used only with a base URL on this machine.
func (f Flags) checkBaseURL(found *Faults) {
	if f.BaseURL == "" && !f.production() { // "innsigli sandbox" takes the address of its listener
		host, err := hostOf(f.Listen)
		if f.PrivateWebhooks && err == nil && host != "" && !isLoopback(host) && !net.ParseIP(host).IsUnspecified() {
			found.add("--insecure-allow-private-webhooks", "requires that --listen is on this machine, such as 127.0.0.1:8080")
		}
		return
	}
	e := f.environment()
	if e == server.Trial { // the fault of a Trial is reported for its flag, below
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
		found.add("--insecure-simulated-idp", "requires a --base-url on this machine, such as http://localhost:8080")
	}
	if f.PrivateWebhooks {
		found.add("--insecure-allow-private-webhooks", "requires a --base-url on this machine, such as http://localhost:8080")
	}
}

func (f Flags) checkAddresses(found *Faults) {
	host, err := hostOf(f.listen())
	switch {
	case err != nil:
		found.add("--listen", "%q is not an address with a port, such as 127.0.0.1:8080", f.Listen)
	case f.Simulated && !isLoopback(host):
		found.add("--listen", "must be on this machine with --insecure-simulated-idp, such as 127.0.0.1:8080")
	}
	if _, err := hostOf(f.AdminListen); f.AdminListen != "" && err != nil {
		found.add("--admin-listen", "%q is not an address with a port, such as 127.0.0.1:8080", f.AdminListen)
	}
}

// listen returns the address that the server listens on. With simulated people, who need no authentication, an address
// without a host is a loopback address.
func (f Flags) listen() string {
	if f.Simulated {
		return orLoopback(f.Listen)
	}
	return f.Listen
}

// orLoopback returns an address to listen on, with the host 127.0.0.1 if it has none.
func orLoopback(address string) string {
	if host, port, err := net.SplitHostPort(address); err == nil && host == "" {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return address
}

// hostOf returns the host of an address to listen on, which must have a port.
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

// Exposed reports whether other machines can reach the server without TLS and no trusted proxy is configured. That is not a
// fault, since a network may have TLS in front of the server that the configuration does not show.
func (c *Config) Exposed() bool {
	host, _, err := net.SplitHostPort(c.Flags.Listen)
	return c.Flags.production() && !c.Flags.Simulated && err == nil && !isLoopback(host) && c.tls == nil && len(c.proxies.Trusted) == 0
}

// UnknownProxy reports whether requests come through a proxy that the configuration does not name.
func (c *Config) UnknownProxy() bool {
	return c.Flags.production() && strings.HasPrefix(c.Flags.BaseURL, "https:") && c.tls == nil && len(c.proxies.Trusted) == 0
}

// MasterKeyFlag names the file of the keys that encrypt secrets in the store.
type MasterKeyFlag struct {
	MasterKeyFile string `name:"master-key-file" placeholder:"FILE" help:"File of the keys that encrypt secrets in the store, readable only by its owner and group: one key per line, 32 random bytes in Base64. The first key encrypts, all keys decrypt. A sandbox creates the file if it does not exist; its default is STORE.key, or innsigli-sandbox.key with Postgres. All servers on a store need the same keys."`
}

// MasterKeyHelp explains the flag --master-key-file, for the help of commands.
const MasterKeyHelp = "Without the master key the secrets in the store are lost: keep a copy of its file, apart from copies of the store. To change the key: (1) append the new key to the file on all servers and restart them, so that each can decrypt what another encrypts with it; (2) move the new key to the top on all servers and restart them, which encrypts the secrets in the store again with it; (3) remove the old key when all requests from before step 2 are deleted, after 24 hours or the time that [retention] sets."

// KeyFile returns the path of the key file for a store.
func (f MasterKeyFlag) KeyFile(s Store) string {
	switch {
	case f.MasterKeyFile != "":
		return f.MasterKeyFile
	case s.InPostgres():
		return "innsigli-sandbox.key"
	}
	return s.Path + ".key"
}

// checkMasterKey checks the key file. In production the server does not create one: its loss would lose all secrets in the
// store, so the operator creates and copies it.
func (f Flags) checkMasterKey(s Store, found *Faults) {
	if f.production() && f.MasterKeyFile == "" {
		found.add("--master-key-file", "is missing: production requires it")
		return
	}
	_, err := sealed.ReadFile(f.KeyFile(s))
	if err != nil && (f.production() || !errors.Is(err, fs.ErrNotExist)) {
		found.add("--master-key-file", "%v", err)
	}
}
