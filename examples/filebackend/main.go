// Command filebackend is a RADIUS server without a database: users in a CSV file, accounting in
// files of JSON lines. It is short, to be read and copied; each of its files is one idea:
//
//	users.go     the CSV file: read, checked, read again when it changes
//	backend.go   the billing.BatchHandler: a billing.Memory with a log behind it
//	log.go       lines that are on the disk before they are acknowledged, one fsync for many
//	record.go    an accounting record as a line of JSON, and back
//
// The first line of the CSV file names its columns: name, password, and any of Simultaneous-Use
// and the attributes of the reply, as FreeRADIUS's dictionaries call them. An empty field is no
// attribute, and an empty password lets nobody in. A password is in cleartext, or a hash behind its
// form, such as {SSHA}, which answers PAP alone. The file is read again within 2 s of a change,
// and at SIGHUP; if it is wrong, the error names line and column, and the users stay as they were.
// Half a file may look whole: write another, and rename it.
//
// An accounting record is a line of -records DIR/acct-YYYY-MM-DD.jsonl, by the day (UTC) on which it
// came. Records come more than once and in any order, and each time they are written: a bill
// takes of each unique_id the earliest time less seconds, and the greatest of seconds and octets.
// What is no record, such as the piece of a line that a crash leaves, was never acknowledged, and
// is passed over ("jq -R 'fromjson?'" does so, too).
//
// At start the newest seven files make the sessions anew. In memory are 262,144: the one that ended
// longest ago makes room, and while all are open a new one gets no answer. Nor does any record
// while the disk is full. A directory is for one process.
//
// Exit status 0: ended by a signal; 1: it could not serve; 2: wrong flags.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"go.uber.org/zap"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/examples/serving"
)

func main() {
	serving.Program[*options]{Name: "filebackend", Parse: parseFlags, Serve: serve}.Main()
}

type options struct {
	serving.Options
	users, records string
}

func parseFlags(args []string, stderr io.Writer) (*options, error) {
	o := &options{Options: serving.Options{Name: "filebackend", Workers: 8}} // more would wait for the same disk
	f := o.Flags(stderr)
	f.StringVar(&o.users, "users", "users.csv", "`FILE` with the users")
	f.StringVar(&o.records, "records", "records", "`DIR` for accounting; made if it is not there")
	return o, serving.Parse(f, args)
}

// open makes a backend of what is in the files.
func open(o *options, log *zap.Logger) (*backend, *userFile, error) {
	b := &backend{Memory: billing.NewMemory(0), log: &recordLog{dir: o.records, sync: (*os.File).Sync}}
	users := &userFile{name: o.users, memory: b.Memory, log: log}
	if err := users.load(); err != nil {
		return nil, nil, err
	}
	return b, users, b.log.replay(b.recall, log)
}

// serve serves until ctx ends.
func serve(ctx context.Context, o *options, stdout io.Writer, log *zap.Logger) error {
	b, users, err := open(o, log)
	if err != nil {
		return err
	}
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	ctx, cancel := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { users.watch(ctx, hup) })
	defer watch.Wait()
	defer cancel()
	o.Logger = log
	return serving.Run(ctx, o.Options, b, stdout)
}
