// Package record turns live traffic into golden packets: requests that were verified, with
// the replies to them, in a txtar file that billingtest.Golden runs again.
//
//	recorder, err := record.Create("traffic.txtar", record.Options{})
//	server.Handler = radpool.Chain(handler, recorder.Middleware)
//
//	verified request ──► Recorder ──► Handler ──► reply
//	                        │                       │
//	                        └── without passwords ──┴──► traffic.txtar ──► billingtest.Golden, in a test
//
// No password and no secret is in the file; a Vendor-Specific that cannot be read is left out,
// since nobody knows what it holds. Instead of each password that was right stands
// one test password, whatever the method was; so a test runs the file against a back end
// whose subscribers have that password.
package record
