#!/usr/bin/env bash
# Signs a PDF in a sandbox: sign.sh document.pdf signed.pdf
#
# CLIENT_ID and CLIENT_SECRET are those of an API client, INNSIGLI_URL is the address of the server.
# Needs curl and jq.
set -euo pipefail

in=$1 out=$2
base=${INNSIGLI_URL:-http://127.0.0.1:8080}
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
answer=$work/answer

# call PATH [CURL'S ARGUMENTS] leaves status and the answer's body, after the time that an answer of
# 429 or 503 asks for where there is one.
call() {
	while :; do
		status=$(curl --silent --show-error --output "$answer" --dump-header "$work/head" --write-out '%{http_code}' \
			--header "Authorization: Bearer $token" --header 'Content-Type: application/json' "$base$1" "${@:2}")
		[[ $status == 429 || $status == 503 ]] || return 0
		sleep "$(sed -n 's/^[Rr]etry-[Aa]fter: *\([0-9]*\).*/\1/p' "$work/head" | grep . || echo 1)"
	done
}

fail() {
	jq . "$answer" >&2
	exit 1
}

token=$(curl --silent --show-error --fail --user "$CLIENT_ID:$CLIENT_SECRET" \
	--data grant_type=client_credentials "$base/api/v1/auth/token" | jq -r .access_token)

# A sandbox user stands in for a person. 422: there is one, from the last time.
call /api/v1/sandbox/users --data '{"fullName": "Sandbox Signer", "kennitala": "0101302989", "phone": "5550101"}'
[[ $status == 200 || $status == 422 ]] || fail

base64 <"$in" | tr -d '\n' | jq --raw-input --arg name "$(basename "$in")" '{
	file: {type: "Pdf", name: $name, contentB64: .},
	signer: {kennitala: "0101302989", signingMethod: "IdpApp"},
	signatureImage: {alignment: "BottomRight", positioning: "Auto"}}' >"$work/start"
call /api/v1/signing --data-binary "@$work/start"
[[ $status == 200 ]] || fail
id=$(jq -r .pollingId "$answer")
interval=$(jq .interval "$answer")

while :; do
	sleep "$interval"
	call "/api/v1/signing/$id"
	case $status/$(jq -r .errorCode "$answer") in
	200/*) break ;;
	400/AuthorizationPending) jq -r '"The phone shows \(.verificationCode // "no code yet")."' "$answer" ;;
	400/SlowDown) interval=$((interval + 5)) ;;
	*) fail ;;
	esac
done
jq -r .signedFileB64 "$answer" | base64 --decode >"$out"
