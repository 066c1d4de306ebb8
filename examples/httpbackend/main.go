// Command httpbackend is a RADIUS server whose billing system is elsewhere, in any
// language, behind HTTP: it asks it in JSON, one POST for all requests that wait.
// docs/http-backend.md is the protocol; samples in Python and in PHP, to copy from, stand
// beside this file.
//
//	python3 examples/httpbackend/python/remote.py billing.db 8080
//	httpbackend -url http://127.0.0.1:8080
//	httpbackend -url https://billing.example.org/radius -token-file token
//	httpbackend -clients /etc/freeradius/3.0/clients.conf ...    serve those NASes, instead of this machine alone
//
// # Passwords
//
// The remote says which password is stored, in cleartext or as a hash, and radpool
// compares: so CHAP and MS-CHAP work where it is in cleartext, and no language has to get
// them right. With -send-passwords the password of a PAP request is sent to the remote, which
// may answer "verified": true instead. Either way passwords are in the messages, and so the
// URL must be https, or of this machine, unless -plain-http says that the network is
// private; with -send-passwords not even then.
//
// # When the remote is slow or away
//
// At most -conns requests are under way, each on a connection that stays open; the others
// wait in radpool's queue, and come in larger batches. What is not answered with 200 in -timeout is an
// error: the NAS gets no answer and tries again, or another server. After 429 or 503
// nothing is sent for as long as Retry-After says, 1 s without one and 60 s at most.
//
// Exit status 0: ended by a signal; 1: it could not serve; 2: wrong flags.
package main

import (
	"context"
	"io"

	"go.uber.org/zap"

	"github.com/radpool/radpool/examples/serving"
)

func main() {
	serving.Program[*options]{Name: "httpbackend", Parse: parseFlags, Serve: serve}.Main()
}

func serve(ctx context.Context, o *options, stdout io.Writer, log *zap.Logger) error {
	r := newRemote(o)
	defer r.close()
	o.served.Logger = log
	return serving.Run(ctx, o.served, r, stdout)
}
