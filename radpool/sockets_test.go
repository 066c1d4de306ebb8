package radpool_test

import (
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/radpool/radpool/radpool"
)

// What sockets drop is told once a second while there is something to tell, and
// counted also where the socket is gone.
func TestSocketDropsAreTold(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	var told []radpool.SocketDropInfo
	s := &radpool.Server{Handler: radpool.HandlerFunc(accept), Logger: zap.New(core)}
	s.Hooks.SocketDrop = func(i radpool.SocketDropInfo) {
		told = append(told, i)
		panic("oh")
	}
	inBatches(t, s, func(t *testing.T, b *batches) {
		if st := s.Stats(); st.SocketsUncounted != 1 || st.SocketDrops != 0 || st.ReceiveBuffer != 0 {
			t.Errorf("of a socket that does not tell: %+v", st)
		}
		b.tells = true
		other := newBatches(t, 1645)
		other.tells = true
		served := serveBatches(s, other, radpool.Auth)
		time.Sleep(500 * time.Millisecond) // between two looks
		for second := range uint64(5) {
			if second < 3 {
				b.drops.Add(10)
				other.drops.Add(second)
			}
			time.Sleep(time.Second)
		}
		synctest.Wait()
		want := []radpool.SocketDropInfo{{b.local, 10}, {b.local, 10}, {other.local, 1}, {b.local, 10}, {other.local, 2}}
		if len(told) != len(want) {
			t.Fatalf("told %v, want %v", told, want)
		}
		for i := range want {
			if told[i] != want[i] {
				t.Errorf("told %v, want %v", told[i], want[i])
			}
		}
		lines := logs.FilterMessageSnippet("dropped before they could be read").All()
		if len(lines) != 3 || lines[2].ContextMap()["datagrams"] != uint64(12) || lines[2].ContextMap()["most at"] != b.local.String() {
			t.Errorf("the log says %v", lines)
		}
		other.drops.Add(100)
		_ = other.Close() // by its owner
		<-served
		st := s.Stats()
		if st.SocketDrops != 133 || st.SocketsUncounted != 0 || st.HookPanics != 5 {
			t.Errorf("%d dropped, want 133; %d sockets do not tell; %d panics", st.SocketDrops, st.SocketsUncounted, st.HookPanics)
		}
		b.drops.Add(7)
	})
	if told[len(told)-1].Datagrams != 7 || s.Stats().SocketDrops != 140 {
		t.Errorf("at the end %v were told, and %d counted", told[len(told)-1], s.Stats().SocketDrops)
	}
}
