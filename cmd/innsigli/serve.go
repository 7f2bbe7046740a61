package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/storage/sealed"
)

type serveCommand struct {
	serverFlags
	Check bool `help:"Only say what is wrong with the configuration, all of it, and exit."`
}

// serverFlags say what a server is. Its doctor has the same.
type serverFlags struct {
	Environment         string `required:"" enum:"sandbox,production" placeholder:"ENVIRONMENT" help:"sandbox, with test users in place of people, or production."`
	Listen              string `required:"" placeholder:"ADDRESS" help:"Address to listen on, such as 127.0.0.1:8080."`
	BaseURL             string `required:"" name:"base-url" placeholder:"URL" help:"Address that clients reach the server at, such as https://sign.example."`
	Store               string `required:"" placeholder:"STORE" help:"Where everything is kept: bolt:PATH, bolt:PATH?documents=FOLDER or postgres://HOST/DATABASE."`
	Config              string `placeholder:"FILE" help:"TOML file: [trust], [[timestamp]], [identity-provider], [login], [page], [proxy], [limits], [webhooks], [mail] and [retention]. It is read again on SIGHUP, and when it or a file that it names was changed."`
	masterKeyFlag       `group:"Secrets and TLS:"`
	tlsFlags            `group:"Secrets and TLS:"`
	mailFlag            `group:"Mail:"`
	AdminListen         string `group:"Operating:" placeholder:"ADDRESS" help:"Address to serve metrics and profiles on, without a token, such as :9464. One without a host is this machine's own; empty: nowhere."`
	logFlag             `group:"Operating:"`
	drainFlag           `group:"Operating:"`
	storedRendererFlag  `group:"Operating:"`
	privateWebhooksFlag `group:"Trials:"`
	Simulated           bool `group:"Trials:" name:"insecure-simulated-idp" help:"In production, for trials on this machine: people who are simulated in place of an identity provider log in and sign, certified by an authority of the server's own. Nobody is asked, and every page says so."`
}

func (serveCommand) Help() string {
	return "A configuration that becomes faulty while the server runs is not taken: the one before stays in force, and the faults are in the log. Its " + sectionsAtStart + " are taken when the server starts.\n\n" + storeHelp + "\n\n" + masterKeyHelp + "\n\nExample: innsigli serve --environment sandbox --listen 127.0.0.1:8080 --base-url http://localhost:8080 --store bolt:innsigli.db\n\nExample: innsigli serve --environment production --listen 127.0.0.1:8080 --base-url https://sign.example --store postgres://innsigli@db.example/innsigli --master-key-file master.key --config innsigli.toml"
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
	log := c.log(s.talk)
	traces, err := conf.traces.open(ctx, log)
	if err != nil {
		return err
	}
	server, err := setup{
		place:      place,
		masterKey:  c.file(place),
		production: c.production(),
		keys:       sandbox.P256,
		provider:   conf.provider,
		login:      conf.login,
		operator:   conf.operator,
		simulated:  c.Simulated,
		retention:  conf.retention,
		mail:       conf.transport,
		baseURL:    c.base(),
		webhooks:   conf.webhooks,
		private:    c.PrivateWebhooks,
		renderer:   c.cacheBeside(place),
		proxies:    conf.proxies,
		limits:     conf.limits,
		secure:     conf.tls.config(),
		delay:      c.DrainDelay,
		traces:     traces,
		log:        log,
	}.open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(c.serve(ctx, server, conf, place), server.close())
}

// read reads what the flags and the file say, and finds every fault in both.
func (c serverFlags) read() (conf configuration, found faults) {
	if c.Simulated && !c.production() {
		found.add("--insecure-simulated-idp", "is for production; a sandbox has test users")
	}
	c.checkListen(&found)
	c.checkBaseURL(&found)
	if _, err := hostBeforePort(c.AdminListen); c.AdminListen != "" && err != nil {
		found.add("--admin-listen", "%q is no address with a port", c.AdminListen)
	}
	if c.Mail != "" && !c.production() {
		found.add("--mail", "is for production; a sandbox sends no mail")
	}
	if place, err := parseStore(c.Store); err != nil {
		found.add("--store", "is not of the form %s", storeForms)
	} else {
		c.checkMasterKey(place, &found)
	}
	c.drainFlag.check(&found)
	conf, more := c.readFile(c.Config)
	conf.tls, conf.traces = c.tlsFlags.files(&found), readOTLP(fromEnvironment, &found)
	conf.transport = c.transport(conf.mail, c.BaseURL, &more)
	return conf, append(found, more...)
}

// readFile reads the file of a configuration; there may be none, but in production.
func (c serverFlags) readFile(path string) (conf configuration, found faults) {
	conf.retention, conf.limits = defaultRetention, defaultLimits
	if path != "" {
		conf, found = readConfiguration(path)
	}
	unread := path != "" && (found.about("--config: ") || found.about(path+": ")) // nobody knows what it lacks
	if c.production() && !c.Simulated && !unread {
		conf.required(&found)
	}
	return conf, found
}

// checkMasterKey: in production nobody makes a key by the way, since losing it would lose
// what it sealed.
func (c serverFlags) checkMasterKey(of place, found *faults) {
	if c.production() && c.MasterKeyFile == "" {
		found.add("--master-key-file", "is missing, and production needs one")
		return
	}
	_, err := sealed.ReadFile(c.file(of))
	if err != nil && (c.production() || !errors.Is(err, fs.ErrNotExist)) {
		found.add("--master-key-file", "%v", err)
	}
}

func (c serverFlags) production() bool { return c.Environment == "production" }
