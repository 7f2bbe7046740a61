// Package archtest holds the house to its papers: imports to the floor plan below,
// ARCHITECTURE.md and README.md to the code.
package archtest_test

// room is a package, what it may import of this module, and which modules of others.
// The standard library is open to all.
type room struct{ name, ours, others string }

// floor is rooms that stand beside each other and know nothing of one another.
type floor []room

// plan is the drawing of ARCHITECTURE.md from the roof down. The first three floors are
// for tests alone: nothing below imports them.
var plan = []floor{
	{
		{"internal/agreement", "ades internal/testenv internal/validators", ""},
		{"internal/trial", "account portal webhook signing pades storage storage/bolt storage/postgres internal/runner internal/pdftest internal/testenv", "pgx sync uuid"},
		{"internal/wiretest", "httpapi webhook internal/pdftest internal/testenv", ""},
		{"idp/idptest", "idp ades internal/cms internal/certtest", ""},
		{"internal/release", "", ""},
		{"internal/handbook", "", ""},
		{"internal/performance", "", ""},
		{"docs/examples/go/sign", "", ""},
		{"docs/examples/go/webhook", "webhook", ""},
	},
	{
		{"internal/archtest", "", ""},
		{"internal/authority/authoritytest", "internal/authority", ""},
		{"internal/certtest", "", ""},
		{"internal/pdflint", "internal/pdf", ""},
		{"internal/pdftest", "", ""},
		{"internal/validators", "internal/testenv", ""},
		{"internal/postgrestest", "internal/testenv", "pgx"},
		{"internal/browsertest", "internal/testenv", ""},
		{"internal/openapitest", "", "jsonschema"},
		{"internal/openidtest", "internal/testenv", ""},
		{"storage/storagetest", "account portal sandbox webhook signing busysignal idp pades ades storage", "go-cmp sync uuid"},
	},
	{{"internal/testenv", "", ""}},

	{{"cmd/innsigli", "httpapi portal/page storage/bolt storage/postgres storage/transfer account portal sandbox webhook signing busysignal idp idp/audkenni idp/ciba idp/login idp/simulated pades xades stamp stamp/pdfium ades/online ades/report ades storage internal/runner internal/sealed internal/mail internal/durable internal/admission internal/recovered internal/reference", "kong prometheus sync toml otel otel-sdk otel-trace otlptrace otlp protobuf"}},

	{
		{"httpapi", "account portal sandbox webhook signing busysignal idp pades xades stamp ades storage internal/admission internal/ratelimit internal/jsonbody internal/openapi", ""},
		{"portal/page", "portal signing idp stamp storage", "image"},
		{"storage/bolt", "account portal sandbox webhook signing busysignal idp ades storage storage/internal/document internal/durable", "bbolt uuid"},
		{"storage/postgres", "account portal sandbox webhook signing busysignal idp ades storage storage/internal/document", "pgx uuid"},
		{"storage/transfer", "account portal sandbox webhook signing busysignal storage", ""},
		{"internal/runner", "storage internal/recovered", ""},
		{"internal/mail", "", "go-mail"},
		{"internal/sealed", "portal sandbox webhook signing storage internal/durable", ""},
	},
	{
		{"storage/internal/document", "storage", ""},
		{"account", "storage", "uuid"},
		{"portal", "signing idp stamp ades storage internal/failpoint", "uuid"},
		{"sandbox", "idp ades storage internal/authority", "uuid"},
		{"webhook", "storage internal/netguard internal/failpoint", "crypto uuid"},
	},
	{
		{"signing", "idp pades xades stamp busysignal ades storage internal/evidence internal/failpoint", "sync uuid"},
		{"stamp/pdfium", "stamp", "pdfium wazero sync"},
		{"idp/audkenni", "idp idp/ciba ades", "uax29"},
		{"idp/login", "idp/ciba", "oidc oauth2"},
		{"idp/simulated", "idp ades", ""},
	},
	{
		{"idp", "ades", ""},
		{"idp/ciba", "", "jose oidc oauth2"},
		{"pades", "ades internal/validation internal/evidence internal/cms internal/tsp internal/ocsp internal/crl internal/stored internal/pdf", ""},
		{"xades", "ades internal/validation internal/evidence internal/tsp internal/ocsp internal/crl internal/stored internal/xmldsig internal/xmldoc", ""},
		{"stamp", "internal/pdf internal/truetype", "text image"},
		{"busysignal", "storage", "uuid"},
		{"internal/ratelimit", "storage", ""},
		{"ades/online", "ades internal/cms internal/tsp internal/ocsp internal/crl internal/netguard", ""},
		{"ades/report", "ades", "text"},
	},

	{{"internal/validation", "ades internal/evidence internal/tsp", ""}},
	{
		{"internal/authority", "ades internal/cms internal/tsp internal/ocsp internal/crl", "crypto"},
		{"internal/evidence", "ades internal/ocsp internal/crl internal/x509der", ""},
	},
	{
		{"internal/tsp", "ades internal/cms internal/x509der", "crypto"},
		{"internal/ocsp", "ades internal/x509der", "crypto"},
		{"internal/crl", "ades internal/x509der", "crypto"},
	},
	{{"internal/cms", "ades internal/x509der", "crypto"}},
	{
		{"internal/x509der", "ades", "crypto"},
		{"internal/stored", "ades", ""},
		{"internal/xmldsig", "ades internal/xmldoc", ""},
	},
	{
		{"ades", "", ""},
		{"storage", "", ""},
		{"internal/durable", "", ""},
		{"internal/failpoint", "", ""},
		{"internal/admission", "", "sync"},
		{"internal/jsonbody", "", "uuid"},
		{"internal/netguard", "", ""},
		{"internal/recovered", "", ""},
		{"internal/openapi", "", ""},
		{"internal/reference", "", "swgui"},
		{"internal/pdf", "", ""},
		{"internal/truetype", "", ""},
		{"internal/xmldoc", "", "text"},
	},
}

const house = "github.com/innsigli/innsigli"

// modules are the short names in the plan.
var modules = map[string]string{
	"bbolt":      "go.etcd.io/bbolt",
	"crypto":     "golang.org/x/crypto",
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
	"uax29":      "github.com/clipperhouse/uax29/v2",
	"uuid":       "github.com/google/uuid",
}
