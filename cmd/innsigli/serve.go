package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/server"
	"github.com/innsigli/innsigli/server/config"
)

type serveCommand struct {
	config.Flags
	Check bool `help:"Check the configuration, report all its faults, and exit."`
}

func (serveCommand) Help() string {
	return "If the configuration file becomes faulty while the server runs, the previous configuration stays in force and the faults are logged. Changes of the sections " + config.SectionsAtStart + " take effect when the server starts again.\n\n" + config.StoreHelp + "\n\n" + config.MasterKeyHelp + "\n\nExample: innsigli serve --environment sandbox --listen 127.0.0.1:8080 --base-url http://localhost:8080 --store bolt:innsigli.db\n\nExample: innsigli serve --environment production --listen 127.0.0.1:8080 --base-url https://sign.example --store 'postgres://innsigli@db.example/innsigli?sslmode=verify-full' --master-key-file master.key --config innsigli.toml"
}

func (c serveCommand) Run(ctx context.Context, s streams, known variables) error {
	conf, faults := config.Read(c.Flags, os.Environ(), known)
	if err := faults.Err(); err != nil {
		return err
	}
	if c.Check {
		_, err := fmt.Fprintln(s.stdout, "The configuration has no faults.")
		return err
	}
	log := c.Log(s.stderr)
	d, err := conf.Open(ctx, log, compileApart)
	if err != nil {
		return err
	}
	d.Server.Stopping = func() { notifySystemd("STOPPING=1", log) }
	return errors.Join(serve(ctx, conf, d, log), d.Close())
}

func serve(ctx context.Context, conf *config.Config, d *config.Deployment, log *slog.Logger) error {
	if conf.Exposed() {
		log.Warn("other machines reach the server without TLS, so tokens and documents can be read in transit: see --tls-cert and [proxy]")
	}
	if conf.UnknownProxy() {
		log.Warn("no [proxy] is configured: callers behind a proxy share one rate limit, or have none if the proxy is on this machine")
	}
	limitMemory(d.Server.Renderer.Memory(), log)
	srv, err := server.New(ctx, d.Server)
	if err != nil {
		return err
	}
	if a := srv.MetricsAddr(); a != nil {
		log.Info("serving metrics", "address", a.String())
	}
	log.Info("listening", "address", srv.Addr().String(), "baseURL", srv.BaseURL())
	notifySystemd("READY=1", log)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return srv.Run(ctx) })
	group.Go(func() error { return d.Watch(ctx) })
	return errors.Join(group.Wait(), srv.Close())
}

// notifySystemd sends the state of the server to the service manager, if it has set NOTIFY_SOCKET (sd_notify(3)).
func notifySystemd(state string, log *slog.Logger) {
	if err := notify(os.Getenv("NOTIFY_SOCKET"), state); err != nil {
		log.Warn("notifying systemd failed", "state", state, "error", err)
	}
}

func notify(socket, state string) error {
	if socket == "" {
		return nil
	}
	conn, err := net.Dial("unixgram", socket)
	if err != nil {
		return fmt.Errorf("NOTIFY_SOCKET: %w", err)
	}
	_, err = conn.Write([]byte(state))
	return errors.Join(err, conn.Close())
}
