package serving

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"path/filepath"

	"go.uber.org/zap"

	"github.com/radpool/radpool/radpool"
)

// readClients takes the clients of a file in the syntax of clients.conf. What it includes
// is found from its directory on.
func (o *Options) readClients(file string) error {
	conf, err := radpool.LoadConf(os.DirFS(filepath.Dir(file)), filepath.Base(file), os.LookupEnv)
	if err != nil {
		return err
	}
	if err := conf.Resolve(context.Background(), nil); err != nil {
		return err
	}
	if len(conf.Clients) == 0 {
		return errors.New("there is no client in it")
	}
	o.Clients, o.notices = conf.Clients, conf.Notices
	return nil
}

// clients are those that are served.
func (o *Options) clients() (*radpool.Clients, error) {
	if len(o.Clients) > 0 {
		for _, n := range o.notices {
			if o.Logger != nil {
				o.Logger.Info("passed over", zap.Stringer("clients", n))
			}
		}
		return radpool.NewClients(o.Clients...)
	}
	secret := []byte(o.Secret)
	return radpool.NewClients(
		radpool.Client{Prefix: netip.MustParsePrefix("127.0.0.0/8"), Secret: secret},
		radpool.Client{Prefix: netip.MustParsePrefix("::1/128"), Secret: secret})
}
