#!/bin/sh
# Makes the folder of the secrets that compose.yaml passes on, each for the user of its container alone. As root, or
# below "podman unshare" where containers are not root's. It fails where there is one already.
set -eu
cd "$(dirname "$0")"
umask 077
mkdir secrets
cd secrets

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 \
	-subj "/CN=Example's containers" -addext "keyUsage=critical,keyCertSign,cRLSign" -keyout ca.key -out ca.pem
for name in db sign.example; do
	openssl req -x509 -CA ca.pem -CAkey ca.key -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 397 \
		-subj "/CN=$name" -addext "subjectAltName=DNS:$name" -addext "basicConstraints=critical,CA:FALSE" \
		-addext "keyUsage=critical,digitalSignature" -addext "extendedKeyUsage=serverAuth" -keyout "$name.key" -out "$name.crt"
done
cat sign.example.crt sign.example.key >sign.example.pem
mv db.crt db.pem
rm sign.example.crt sign.example.key
openssl rand -base64 32 >master.key
for role in database owner server; do
	openssl rand -hex 24 >"$role.password"
done
echo "db:5432:innsigli:innsigli_owner:$(cat owner.password)" >pgpass.owner
echo "db:5432:innsigli:innsigli:$(cat server.password)" >pgpass

chmod 644 ca.pem db.pem
chown 65532:65532 master.key pgpass pgpass.owner # the server's image
chown 99:99 sign.example.pem                     # haproxy's
chmod 755 .                                      # the files are closed themselves
