package loadgen_test

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/netip"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/internal/loadgen"
	"github.com/radpool/radpool/radpool"
)

func Example() {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	clients, err := radpool.NewClients(radpool.Client{Prefix: netip.MustParsePrefix("127.0.0.1/32"), Secret: []byte("testing123")})
	if err != nil {
		log.Fatal(err)
	}
	accept := radpool.HandlerFunc(func(_ context.Context, _ *radpool.Request, reply *radpool.Response) {
		reply.Code = radius.CodeAccessAccept
	})
	server := &radpool.Server{Handler: accept, Clients: clients}
	served := make(chan error)
	go func() { served <- server.Serve(conn) }()

	users, err := loadgen.Pattern("user%d", "pass%d", 1000)
	if err != nil {
		log.Fatal(err)
	}
	at := conn.LocalAddr().(*net.UDPAddr).AddrPort()
	result, err := loadgen.Run(context.Background(), loadgen.Config{
		Auth: at, Acct: at, Secret: []byte("testing123"), Users: users, Workers: 8, Requests: 500, Timeout: time.Minute,
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := server.Shutdown(context.Background()); err != nil {
		log.Fatal(err)
	}
	<-served
	fmt.Println(result.Accepts, "accepted,", result.Lost, "lost,", result.Wrong(), "wrong")
	fmt.Println("the server counted", server.Stats().AccessAccepts)
	// Output:
	// 500 accepted, 0 lost, 0 wrong
	// the server counted 500
}
