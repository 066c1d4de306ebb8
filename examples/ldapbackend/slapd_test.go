package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/go-ldap/ldap/v3"

	"github.com/radpool/radpool/internal/need"
)

const (
	suffix  = "dc=example,dc=org"
	adminDN = "cn=admin," + suffix
	readDN  = "cn=radius," + suffix
	secret  = "s3cret of the service"
)

// slapd is an OpenLDAP server of the test's own.
type slapd struct {
	dir, url, ldaps, ca string
	cmd                 *exec.Cmd
}

const slapdConf = `include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
include %[1]s/radius.schema
modulepath /usr/lib/ldap
moduleload back_mdb
TLSCertificateFile %[1]s/cert.pem
TLSCertificateKeyFile %[1]s/key.pem
database mdb
suffix ` + suffix + `
rootdn ` + adminDN + `
rootpw "` + secret + `"
directory %[1]s/db
maxsize 268435456
dbnosync
index objectClass,uid eq
access to attrs=userPassword by dn.exact="` + readDN + `" read by anonymous auth by * none
access to * by * read
`

// tops are the entries that every directory has.
const tops = `dn: ` + suffix + `
objectClass: organization
objectClass: dcObject
o: example
dc: example

dn: ` + readDN + `
objectClass: applicationProcess
objectClass: simpleSecurityObject
cn: radius
userPassword: ` + secret + `

dn: ou=people,` + suffix + `
objectClass: organizationalUnit
ou: people

`

// startSlapd loads a directory and starts a server for it.
func startSlapd(t *testing.T, ldif string) *slapd {
	t.Helper()
	const hint = "apt-get install slapd"
	path := os.Getenv("PATH")
	t.Setenv("PATH", path+":/usr/sbin") // where Debian has it, and few users look
	program := need.Command(t, "slapd", hint)
	slapadd := need.Command(t, "slapadd", hint)
	s := &slapd{dir: t.TempDir()}
	s.certificate(t)
	schema, err := os.ReadFile("testdata/radius.schema")
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "radius.schema", string(schema))
	s.write(t, "slapd.conf", fmt.Sprintf(slapdConf, s.dir))
	s.write(t, "people.ldif", tops+ldif)
	if err := os.Mkdir(filepath.Join(s.dir, "db"), 0o700); err != nil {
		t.Fatal(err)
	}
	conf := filepath.Join(s.dir, "slapd.conf")
	if out, err := exec.CommandContext(t.Context(), slapadd, "-q", "-f", conf, "-l", filepath.Join(s.dir, "people.ldif")).CombinedOutput(); err != nil {
		t.Fatalf("slapadd: %v\n%s", err, out)
	}
	s.url, s.ldaps = "ldap://"+freePort(t), "ldaps://"+freePort(t)
	s.start(t, program)
	t.Cleanup(func() { s.stop(t) })
	return s
}

// start starts the server, also again after stop.
func (s *slapd) start(t *testing.T, program string) {
	t.Helper()
	s.cmd = exec.Command(program, "-d", "0", "-f", filepath.Join(s.dir, "slapd.conf"), "-h", s.url+" "+s.ldaps)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	cmd := s.cmd
	go func() { _ = cmd.Wait(); close(gone) }()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if c, err := ldap.DialURL(s.url); err == nil {
			_ = c.Close()
			return
		}
		select {
		case <-tick.C:
		case <-gone:
			t.Fatalf("slapd has ended before it was ready: %v", cmd.ProcessState)
		case <-deadline.C:
			t.Fatal("slapd is not ready after a minute")
		}
	}
}

func (s *slapd) stop(t *testing.T) {
	t.Helper()
	s.signal(t, syscall.SIGKILL)
	for c, err := ldap.DialURL(s.url); err == nil; c, err = ldap.DialURL(s.url) {
		_ = c.Close()
	}
}

func (s *slapd) signal(t *testing.T, sig os.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil && sig != syscall.SIGKILL {
		t.Error(err)
	}
}

func (s *slapd) write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// certificate makes one for 127.0.0.1 that is its own authority.
func (s *slapd) certificate(t *testing.T) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "slapd of a test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})))
	s.write(t, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
	s.ca = filepath.Join(s.dir, "cert.pem")
}

// freePort is an address on which nobody listens.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// options are those of a server for s, as the flags have them.
func (s *slapd) options(t *testing.T, args ...string) *options {
	t.Helper()
	s.write(t, "pw", secret+"\n")
	all := append([]string{
		"-url", s.url, "-bind-dn", readDN, "-password-file", filepath.Join(s.dir, "pw"), "-base", "ou=people," + suffix,
		"-db", "sqlite:" + filepath.Join(t.TempDir(), "radacct.db"), "-conns", "4", "-auth", "127.0.0.1:0", "-acct", "127.0.0.1:0",
	}, args...)
	o, err := parseFlags(all, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	return o
}
