package status_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/netip"

	"github.com/radpool/radpool/radpool"
	"github.com/radpool/radpool/radpool/status"
)

func Example() {
	clients, err := radpool.NewClients(radpool.Client{
		Name: "bras1", Prefix: netip.MustParsePrefix("192.0.2.1/32"), Secret: []byte("a secret"),
	})
	if err != nil {
		panic(err)
	}
	server := &radpool.Server{Clients: clients} // and a Handler, to serve
	page, err := status.New(server, status.Options{Title: "radius1", Clients: clients})
	if err != nil {
		panic(err)
	}
	defer page.Close()
	web := httptest.NewServer(page) // http.ListenAndServe("127.0.0.1:8812", page)
	defer web.Close()

	response, err := web.Client().Get(web.URL + "/status.json")
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	var s status.Snapshot
	if err := json.NewDecoder(response.Body).Decode(&s); err != nil {
		panic(err)
	}
	fmt.Println(s.Title, s.Clients[0].Name, s.Clients[0].Requests, s.Alerts)
	// Output:
	// radius1 bras1 0 [The server does not serve yet.]
}
