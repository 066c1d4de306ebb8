package radpool_test

import (
	"bytes"
	"testing"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
)

// However much Proxy-State a Status-Server carries, it is answered with all of it: where there
// is no room for them, without the statistics.
func TestStatisticsBesideProxyState(t *testing.T) {
	inStatisticsWorld(t, func(w *world, n *nas) {
		for _, many := range []int{0, 1, 8, 15} {
			more := []*radius.AVP{freeRADIUS(127, u32(0x1f))}
			for i := range many {
				more = append(more, &radius.AVP{Type: rfc2865.ProxyState_Type, Attribute: bytes.Repeat([]byte{byte(i)}, 253)})
			}
			p, all, _ := n.status(statusAddr, more...)
			states, err := rfc2865.ProxyState_Gets(p)
			if err != nil || len(states) != many {
				t.Errorf("%d Proxy-States of %d, %v", len(states), many, err)
			}
			if few := many > 8; (len(all) == 0) != few {
				t.Errorf("beside %d Proxy-States: %d numbers", many, len(all))
			}
		}
		if st := w.server.Stats(); st.WriteErrors != 0 || st.StatusServer != 4 {
			t.Errorf("%d answered, %d not", st.StatusServer, st.WriteErrors)
		}
	})
}
