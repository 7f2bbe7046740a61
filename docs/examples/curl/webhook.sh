#!/usr/bin/env bash
# Says whether a webhook that was kept verifies: webhook.sh headers.txt body.json
#
# headers.txt has the headers, one a line, and body.json the body to the byte. WEBHOOK_SECRET is the
# secret of the subscription. Exit status 0: it does; 1: answer it with 401. Needs openssl.
set -euo pipefail

headers=$1 body=$2
header() { tr -d '\r' <"$headers" | sed -n "s/^$1: *//Ip"; }

id=$(header webhook-id) sent=$(header webhook-timestamp)
[[ -n $id && $id != *.* && $sent =~ ^[1-9][0-9]*$ ]] || exit 1
late=$(($(date +%s) - sent))
((late <= 300 && late >= -300)) || exit 1

right=v1,$({ printf %s "$id.$sent." && cat "$body"; } |
	openssl dgst -sha256 -mac HMAC -macopt "hexkey:$WEBHOOK_SECRET" -binary | base64)
for signature in $(header webhook-signature); do
	[[ $signature != "$right" ]] || exit 0
done
exit 1
