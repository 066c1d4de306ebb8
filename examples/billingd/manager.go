package main

import (
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"go.uber.org/zap"

	"github.com/radpool/radpool/radpool"
)

// What the service manager is told, as sd_notify(3) has it.
const (
	ready    = daemon.SdNotifyReady
	stopping = daemon.SdNotifyStopping
)

// reloading is that the configuration is being read, with the time by the monotonic clock,
// which Type=notify-reload wants.
func reloading() string {
	return strings.TrimSpace(daemon.SdNotifyReloading + "\n" + daemon.SdNotifyMonotonicUsec())
}

// serviceManager is systemd, or whatever else has said in NOTIFY_SOCKET that it wants to
// hear. Without that nothing is told.
type serviceManager struct{ log *zap.Logger }

func (m serviceManager) tell(state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		m.log.Warn("the service manager is not told", zap.String("state", state), zap.Error(err))
	}
}

// watch tells twice in each WatchdogSec= that the server lives: that its statistics can be
// read, for which its locks have to be free. The returned function ends that.
func (m serviceManager) watch(server *radpool.Server) (end func()) {
	every, err := daemon.SdWatchdogEnabled(false)
	switch {
	case err != nil:
		m.log.Warn("the service manager's watchdog is not served", zap.Error(err))
		return func() {}
	case every <= 0:
		return func() {}
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(every / 2)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				server.Stats()
				m.tell(daemon.SdNotifyWatchdog)
			case <-done:
				return
			}
		}
	})
	return func() { close(done); wg.Wait() }
}
