// Package archtest compares imports with the table of layers below, and ARCHITECTURE.md and README.md
// with the code.
package archtest_test

// entry is a package, the packages of this module that it may import, and the other modules that it
// may import. Every package may import the standard library.
type entry struct{ path, ours, modules string }

// layer is packages that do not import each other.
type layer []entry

// testLayers is how many layers at the top hold tests, test support and the programs of CI and
// releases. Packages of the other layers do not import these.
const testLayers = 3

// layers is the drawing of ARCHITECTURE.md from top to bottom: a package imports packages of lower
// layers only.
var layers = []layer{
	// Tests, test support, and the programs of CI and releases.
	{
		{"docs/examples/go/sign", "", ""},
		{"docs/examples/go/webhook", "webhook", ""},
		{"idp/idptest", "idp ades internal/pki/cms internal/test/cert", ""},
		{"internal/test/adestest", "ades ades/online internal/pki/tsp internal/test/ca internal/test/cert internal/test/env internal/test/validators sandbox/ca", "go-cmp"},
		{"internal/test/agreement", "ades internal/test/env internal/test/validators", ""},
		{"internal/test/decisions", "", ""},
		{"internal/test/handbook", "", ""},
		{"tools/mutation", "", ""},
		{"tools/openapi", "", "yaml"},
		{"tools/performance", "", ""},
		{"tools/release", "", ""},
		{"tools/texts", "", "yaml"},
		{"tools/trial", "ades sandbox/ca account portal webhook webhook/delivery signing pades storage storage/bolt storage/postgres internal/queue internal/test/pdf internal/test/env internal/test/postgres internal/test/powerloss", "pgx sync uuid"},
		{"tools/wiretest", "internal/test/env", ""},
	},
	{
		{"internal/archtest", "", ""},
		{"internal/test/browser", "internal/test/env", ""},
		{"internal/test/ca", "ades internal/test/cert sandbox/ca", ""},
		{"internal/test/collector", "", "otlp protobuf"},
		{"internal/test/openapi", "", "jsonschema"},
		{"internal/test/openid", "internal/test/env", ""},
		{"internal/test/pdf", "", ""},
		{"internal/test/pdflint", "internal/pdf", ""},
		{"internal/test/postgres", "internal/test/env", "pgx"},
		{"internal/test/powerloss", "", "go-fuse"},
		{"internal/test/validators", "internal/test/env", ""},
		{"storage/storagetest", "account portal portal/process sandbox webhook webhook/delivery signing busysignal idp pades ades storage pades/inspect storage/evidence", "go-cmp sync uuid"},
	},
	{{"internal/test/cert", "", ""}, {"internal/test/env", "", "go-cmp"}},

	// The program.
	{{"cmd/innsigli", "server server/config server/doctor server/operator account portal sandbox webhook webhook/delivery storage storage/bolt storage/postgres storage/transfer idp pades xades stamp stamp/pdfium ades/online ades/report ades internal/durable pades/inspect storage/evidence", "kong sync"}},

	// The server.
	{{"server/doctor", "server/config server/operator sandbox storage/bolt storage/sealed idp idp/ciba stamp/pdfium ades/online ades storage", "sync"}},
	{{"server/config", "server portal/page storage/bolt storage/postgres storage/sealed storage/transfer sandbox idp idp/audkenni idp/ciba idp/login stamp/pdfium ades/online ades storage internal/mail server/internal/notify server/internal/telemetry", "toml otel-sdk"}},
	{{"server", "server/operator httpapi portal/page storage/sealed account portal sandbox webhook/delivery signing busysignal idp idp/ciba idp/login idp/simulated stamp stamp/pdfium ades storage internal/admission internal/mail internal/promptlimit internal/queue server/internal/front server/internal/notify server/internal/reference server/internal/telemetry storage/evidence internal/pki/tsp", "sync otel-trace"}},
	{
		{"server/operator", "account portal sandbox webhook/delivery signing busysignal storage/sealed storage server/internal/notify pades/inspect storage/evidence internal/pki/tsp", "uuid"},
		{"server/internal/front", "httpapi account internal/admission internal/queue server/internal/telemetry", "otel-trace"},
	},
	{
		{"server/internal/notify", "portal/page account portal webhook/delivery storage internal/mail", ""},
		{"server/internal/reference", "", "swgui"},
		{"server/internal/telemetry", "signing webhook/delivery idp ades storage internal/queue", "prometheus otel otel-sdk otel-trace otlptrace otlp protobuf"},
	},

	// The API, the signing page, and the stores of all domains.
	{
		{"httpapi", "account portal sandbox webhook/delivery signing busysignal idp pades xades stamp ades storage internal/admission httpapi/internal/jsonbody httpapi/internal/ratelimit pades/inspect", ""},
		{"portal/page", "portal signing idp stamp storage internal/admission pades/inspect internal/promptlimit", "image"},
		{"storage/bolt", "account portal sandbox webhook/delivery signing busysignal idp ades storage storage/internal/document internal/durable pades/inspect", "bbolt uuid"},
		{"storage/postgres", "account portal sandbox webhook/delivery signing busysignal idp ades storage storage/internal/document pades/inspect", "pgx uuid"},
		{"storage/sealed", "portal sandbox webhook/delivery signing storage internal/durable", ""},
		{"storage/transfer", "account portal sandbox webhook/delivery signing busysignal storage", ""},
	},
	{
		{"httpapi/internal/jsonbody", "", "uuid"},
		{"httpapi/internal/ratelimit", "storage", ""},
		{"internal/mail", "", "go-mail"},
		{"internal/queue", "storage", ""},
		{"storage/evidence", "storage internal/failpoint", ""},
		{"storage/internal/document", "storage", ""},
	},

	// The domains of the service.
	{
		{"account", "storage pades/inspect", "uuid"},
		{"portal", "portal/process signing idp stamp ades storage internal/failpoint pades/inspect", "uuid"},
		{"sandbox", "idp ades storage sandbox/ca", "uuid"},
		{"webhook/delivery", "webhook storage internal/netguard internal/failpoint", "crypto uuid"},
	},
	{
		{"signing", "idp pades xades stamp busysignal ades storage internal/admission internal/pki/validation internal/failpoint pades/inspect internal/promptlimit", "sync uuid"},
		{"webhook", "", "crypto"},
	},
	{
		{"busysignal", "storage", "uuid"},
		{"portal/process", "", ""},
		{"idp/audkenni", "idp idp/ciba ades", "uax29"},
		{"idp/login", "idp/ciba", "oauth2"},
		{"idp/simulated", "idp ades", ""},
		{"internal/promptlimit", "idp storage", ""},
		{"stamp/pdfium", "stamp", "pdfium wazero"},
	},

	// Signatures, stamps, and identity providers.
	{
		{"ades/online", "ades internal/pki/cms internal/pki/tsp internal/pki/ocsp internal/pki/crl internal/netguard", ""},
		{"ades/report", "ades", "text"},
		{"idp", "ades", ""},
		{"idp/ciba", "", "jose oidc"},
		{"pades", "pades/internal/diff pades/internal/form ades internal/pki/validation internal/pki/cms internal/pki/tsp internal/pki/ocsp internal/pki/crl internal/pki/signerjson internal/pdf internal/hashstate", ""},
		{"pades/inspect", "internal/pdf", ""},
		{"sandbox/ca", "ades internal/pki/cms internal/pki/tsp internal/pki/ocsp internal/pki/crl", ""},
		{"stamp", "internal/pdf stamp/internal/truetype", "text image"},
		{"xades", "ades internal/pki/validation internal/pki/tsp internal/pki/ocsp internal/pki/crl internal/pki/signerjson internal/xml/dsig internal/xml/doc internal/hashstate", ""},
	},

	// What they are made of.
	{{"pades/internal/diff", "pades/internal/form ades internal/pdf", ""}},
	{{"pades/internal/form", "internal/pdf", ""}},
	{{"internal/pki/validation", "ades internal/pki/tsp internal/pki/ocsp internal/pki/crl internal/pki/der", ""}},
	{{"internal/pki/tsp", "ades internal/pki/cms internal/pki/der", "crypto"}},
	{
		{"internal/pki/cms", "ades internal/pki/der", "crypto"},
		{"internal/pki/crl", "ades internal/pki/der", "crypto"},
		{"internal/pki/ocsp", "ades internal/pki/der", "crypto"},
	},
	{
		{"internal/pki/der", "ades", "crypto"},
		{"internal/pki/signerjson", "ades", ""},
		{"internal/xml/dsig", "ades internal/xml/doc internal/hashstate", ""},
	},
	{
		{"ades", "", ""},
		{"internal/admission", "", "sync"},
		{"internal/durable", "", ""},
		{"internal/failpoint", "", ""},
		{"internal/hashstate", "", ""},
		{"internal/netguard", "", ""},
		{"internal/pdf", "", ""},
		{"internal/xml/doc", "", "text"},
		{"stamp/internal/truetype", "", ""},
		{"storage", "", ""},
	},
}

// modulePath is the path of this module.
const modulePath = "github.com/innsigli/innsigli"

// modules has the paths of the modules that the table names.
var modules = map[string]string{
	"bbolt":      "go.etcd.io/bbolt",
	"crypto":     "golang.org/x/crypto",
	"go-fuse":    "github.com/hanwen/go-fuse/v2",
	"go-mail":    "github.com/wneessen/go-mail",
	"go-cmp":     "github.com/google/go-cmp",
	"jose":       "github.com/go-jose/go-jose/v4",
	"kong":       "github.com/alecthomas/kong",
	"oauth2":     "golang.org/x/oauth2",
	"image":      "golang.org/x/image",
	"text":       "golang.org/x/text",
	"pdfium":     "github.com/klippa-app/go-pdfium",
	"wazero":     "github.com/tetratelabs/wazero",
	"oidc":       "github.com/coreos/go-oidc/v3",
	"otel":       "go.opentelemetry.io/otel",
	"otel-sdk":   "go.opentelemetry.io/otel/sdk",
	"otel-trace": "go.opentelemetry.io/otel/trace",
	"otlp":       "go.opentelemetry.io/proto/otlp",
	"otlptrace":  "go.opentelemetry.io/otel/exporters/otlp/otlptrace",
	"protobuf":   "google.golang.org/protobuf",
	"pgx":        "github.com/jackc/pgx/v5",
	"prometheus": "github.com/prometheus/client_golang",
	"jsonschema": "github.com/santhosh-tekuri/jsonschema/v6",
	"swgui":      "github.com/swaggest/swgui",
	"sync":       "golang.org/x/sync",
	"toml":       "github.com/BurntSushi/toml",
	"yaml":       "go.yaml.in/yaml/v3",
	"uax29":      "github.com/clipperhouse/uax29/v2",
	"uuid":       "github.com/google/uuid",
}
