// Command innsigli runs the electronic signing service and a sandbox to try it, signs and verifies local files, and has the
// tools of the operator. "innsigli --help" lists the commands.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"reflect"
	"runtime"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/innsigli/innsigli/server"
	"github.com/innsigli/innsigli/server/config"
)

func main() {
	ctx := untilSignal()
	// net/http writes unsolicited responses of endpoints to this log, which may have personal data. The server uses its own
	// log.
	log.SetOutput(io.Discard)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// untilSignal returns a context that ends at the first SIGINT or SIGTERM. A second signal ends the program at once.
// signal.NotifyContext does not guarantee that: it ends the context before it removes its handler, which may swallow a
// second signal in between.
func untilSignal() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		signal.Stop(signals)
		cancel()
	}()
	return ctx
}

// Exit statuses.
const (
	done   = 0
	failed = 1
	usage  = 2
)

type cli struct {
	Demo     demoCommand     `cmd:"" help:"Sign a PDF over the real HTTP API of a temporary sandbox."`
	Sandbox  sandboxCommand  `cmd:"" help:"Run the sandbox: the whole API, with sandbox users in place of people."`
	Serve    serveCommand    `cmd:"" help:"Run the server."`
	Doctor   doctorCommand   `cmd:"" help:"Check a server's configuration and the services that it depends on."`
	IDP      idpCommand      `cmd:"" name:"idp" help:"Check the identity provider."`
	Sign     signCommand     `cmd:"" help:"Sign a PDF or XML file with a local key."`
	Extend   extendCommand   `cmd:"" help:"Raise the signatures of a PDF or XML file to a higher level, or renew level LTA."`
	Verify   verifyCommand   `cmd:"" help:"Report on the signatures of PDF and XML files."`
	Account  accountCommand  `cmd:"" help:"Manage the accounts of the service."`
	Client   clientCommand   `cmd:"" help:"Manage the API clients of an account."`
	Process  processCommand  `cmd:"" help:"List, show and delete signing processes."`
	Signing  signingCommand  `cmd:"" help:"Complete signing requests that failed."`
	Webhook  webhookCommand  `cmd:"" help:"Manage webhooks: subscriptions, attempts, dropped events and signing keys."`
	Job      jobCommand      `cmd:"" help:"Manage background jobs: list, retry and delete them."`
	Mail     mailCommand     `cmd:"" help:"Test the mail of a server."`
	Store    storeCommand    `cmd:"" help:"Copy a store to another one, or compact it."`
	Backup   backupCommand   `cmd:"" help:"Back up a store of the form bolt:PATH, also while a server runs."`
	Migrate  migrateCommand  `cmd:"" help:"Migrate a store to the schema of this version."`
	Evidence evidenceCommand `cmd:"" help:"Export the evidence log, which records who was asked for which signature."`
	Version  versionCommand  `cmd:"" help:"Print the version."`
	Compile  compileCommand  `cmd:"" hidden:"" name:"compile-renderer"`
}

// streams are the outputs of a command: results go to stdout, messages to stderr.
type streams struct{ stdout, stderr io.Writer }

func (s streams) say(text string) { fmt.Fprintln(s.stderr, "innsigli:", text) }

// commandsFor returns a struct with the command that the arguments name, or with all commands if they name none. Building
// the flags of all commands takes longer than what most commands do.
func commandsFor(args []string) any {
	all := reflect.TypeFor[cli]()
	for field := range all.Fields() {
		if len(args) > 0 && args[0] == cmp.Or(field.Tag.Get("name"), strings.ToLower(field.Name)) {
			return reflect.New(reflect.StructOf([]reflect.StructField{field})).Interface()
		}
	}
	return &cli{}
}

// run runs the program and returns its exit status. Tests call it too.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (status int) {
	exited := false
	parser, err := kong.New(commandsFor(args),
		kong.Name("innsigli"),
		kong.Description("An electronic signing service: people sign PDFs with an electronic ID on a phone. Results go to stdout, messages to stderr. Exit status: 0 done, 1 failed, 2 wrong usage. Every flag can also be set by an environment variable: --client-id by INNSIGLI_CLIENT_ID."),
		kong.DefaultEnvars(variablePrefix),
		kong.Writers(stdout, stderr),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Exit(func(int) { exited = true }), // after --help
	)
	if err != nil {
		fmt.Fprintln(stderr, "innsigli:", err)
		return failed
	}
	command, err := parser.Parse(args)
	if exited {
		return done
	}
	if err != nil {
		fmt.Fprintf(stderr, "innsigli: %v\nTry \"innsigli --help\".\n", err)
		return usage
	}
	command.BindTo(ctx, (*context.Context)(nil))
	if err = command.BindToProvider(allVariables); err == nil {
		err = command.Run(streams{stdout, stderr})
	}
	if err != nil {
		return explain(stderr, err)
	}
	return done
}

// variablePrefix is the first word of the environment variables of flags.
const variablePrefix = "INNSIGLI"

// variables has the names of the environment variables of all flags of all commands.
type variables []string

// allVariables returns the variables. It is called for the commands whose Run has a parameter of that type.
func allVariables() (variables, error) {
	parser, err := kong.New(&cli{}, kong.DefaultEnvars(variablePrefix))
	if err != nil {
		return nil, err
	}
	return variablesOf(parser.Model.Node), nil
}

// variablesOf returns the environment variables of the flags of a command and its subcommands.
func variablesOf(n *kong.Node) (names variables) {
	for _, flag := range n.Flags {
		names = append(names, flag.Envs...)
	}
	for _, child := range n.Children {
		names = append(names, variablesOf(child)...)
	}
	return names
}

// errUsage is the error of wrong usage.
var errUsage = errors.New("wrong usage")

// errSilent is the error of a command that has printed already what is wrong.
var errSilent = errors.New("")

// explain prints an error, and advice about it, and returns the exit status.
func explain(stderr io.Writer, err error) int {
	if !errors.Is(err, errSilent) {
		fmt.Fprintln(stderr, "innsigli:", err)
	}
	if advice := config.Advice(err); advice != "" {
		fmt.Fprintln(stderr, "innsigli:", advice)
	}
	if errors.Is(err, errUsage) || errors.Is(err, config.ErrStore) {
		return usage
	}
	return failed
}

type versionCommand struct{}

func (versionCommand) Help() string { return "Example: innsigli version" }

func (versionCommand) Run(s streams) error {
	_, err := fmt.Fprintf(s.stdout, "innsigli %s %s %s/%s\n", server.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
