package ledger

import (
	"context"
	"fmt"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
)

// Check looks for rows that cannot be used or that name what is not there, and for balances
// that are not the sum of their entries, and calls found for each. It reads the tables of
// subscribers, tariffs and profiles as a whole, and keeps nothing of the subscribers in
// memory. An error is found's, the database's, or ctx's; what was found before it stands.
func (b *Backend) Check(ctx context.Context, found func(sqlbilling.Finding) error) error {
	for _, check := range []func(context.Context, func(sqlbilling.Finding) error) error{
		b.checkTariffs, b.checkProfiles, b.checkSubscribers, b.checkReferences, b.checkSums, b.checkNASes,
	} {
		if err := check(ctx, found); err != nil {
			return err
		}
	}
	return nil
}

func (b *Backend) checkTariffs(ctx context.Context, found func(sqlbilling.Finding) error) error {
	rows, err := b.db.Read.QueryxContext(ctx, tariffSQL)
	if err != nil {
		return b.named(err)
	}
	tariffs, err := scanTariffs(rows)
	if err != nil {
		return b.named(err)
	}
	for _, t := range tariffs {
		if t.err != nil {
			if err := found(sqlbilling.Finding{Severity: sqlbilling.Wrong, Table: "radpool_tariff", Reason: t.err.Error()}); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachRow reads all rows of a statement with some columns of text and then some of
// numbers, and calls do for each.
func (b *Backend) eachRow(ctx context.Context, query string, texts, numbers int, do func(text []string, number []int64) error) error {
	text, number := make([]string, texts), make([]int64, numbers)
	var dest []any
	for i := range text {
		dest = append(dest, &text[i])
	}
	for i := range number {
		dest = append(dest, &number[i])
	}
	return b.db.EachRow(ctx, "ledger", query, dest, func() error { return do(text, number) })
}

func (b *Backend) checkProfiles(ctx context.Context, found func(sqlbilling.Finding) error) error {
	return b.eachRow(ctx, "SELECT profile, attribute, value, position FROM radpool_profile ORDER BY profile, position", 3, 1,
		func(text []string, number []int64) error {
			row := attribute{profile: text[0], name: text[1], value: text[2], position: number[0]}
			_, _, err := (&answer{dict: b.dict, profiles: map[string][]attribute{row.profile: {row}}}).attributes("", row.profile)
			if err == nil {
				return nil
			}
			return found(sqlbilling.Finding{Severity: sqlbilling.Wrong, Table: "radpool_profile", Attribute: text[1],
				Reason: fmt.Sprintf("profile %.64q: %v", text[0], err)})
		})
}

func (b *Backend) checkSubscribers(ctx context.Context, found func(sqlbilling.Finding) error) error {
	return b.eachRow(ctx, "SELECT username, password, password_form FROM radpool_subscriber", 3, 0, func(text []string, _ []int64) error {
		var g billing.Grant
		err := (&subscriber{password: text[1], form: text[2]}).credentials(&g)
		switch {
		case err != nil:
			return found(sqlbilling.Finding{Severity: sqlbilling.Wrong, Table: "radpool_subscriber", Reason: fmt.Sprintf("%.64q: password: %v", text[0], err)})
		case g.Password.IsZero() && !g.NoPassword:
			return found(sqlbilling.Finding{Severity: sqlbilling.Suspect, Table: "radpool_subscriber",
				Reason: fmt.Sprintf("%.64q has no password, and password_form is not None: nobody gets in", text[0])})
		}
		return nil
	})
}

// checkReferences finds names of what is not there.
func (b *Backend) checkReferences(ctx context.Context, found func(sqlbilling.Finding) error) error {
	for _, c := range []struct {
		severity sqlbilling.Severity
		table    string
		reason   string
		query    string
	}{
		{sqlbilling.Wrong, "radpool_subscriber", "%.64q has the tariff %.64q, which is not there", `SELECT s.username, s.tariff FROM radpool_subscriber s
			LEFT JOIN radpool_tariff t ON t.name = s.tariff WHERE t.name IS NULL`},
		{sqlbilling.Suspect, "radpool_subscriber", "%.64q has the profile %.64q, which has no attributes", `SELECT s.username, s.profile FROM radpool_subscriber s
			WHERE s.profile <> '' AND NOT EXISTS (SELECT 1 FROM radpool_profile p WHERE p.profile = s.profile)`},
		{sqlbilling.Suspect, "radpool_interval", "tariff %.64q, which is not there%.0s", `SELECT DISTINCT i.tariff, '' AS none FROM radpool_interval i
			LEFT JOIN radpool_tariff t ON t.name = i.tariff WHERE t.name IS NULL`},
		{sqlbilling.Suspect, "radpool_tariff", "tariff %.64q has the profile %.64q, which has no attributes", `SELECT t.name, t.profile FROM (
			SELECT name, profile FROM radpool_tariff UNION SELECT name, quota_profile FROM radpool_tariff
			UNION SELECT name, restricted_profile FROM radpool_tariff UNION SELECT tariff, profile FROM radpool_interval) t
			WHERE t.profile <> '' AND NOT EXISTS (SELECT 1 FROM radpool_profile p WHERE p.profile = t.profile)`},
	} {
		err := b.eachRow(ctx, c.query, 2, 0, func(text []string, _ []int64) error {
			return found(sqlbilling.Finding{Severity: c.severity, Table: c.table, Reason: fmt.Sprintf(c.reason, text[0], text[1])})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkSums finds balances that are not the sum of their entries.
func (b *Backend) checkSums(ctx context.Context, found func(sqlbilling.Finding) error) error {
	const sums = `SELECT k.username, COALESCE(MAX(b.balance), 0) AS balance, COALESCE(MAX(l.total), 0) AS total FROM
		(SELECT username FROM radpool_balance UNION SELECT username FROM radpool_ledger) k
		LEFT JOIN radpool_balance b ON b.username = k.username
		LEFT JOIN (SELECT username, SUM(amount) AS total FROM radpool_ledger GROUP BY username) l ON l.username = k.username
		GROUP BY k.username HAVING COALESCE(MAX(b.balance), 0) <> COALESCE(MAX(l.total), 0)`
	return b.eachRow(ctx, sums, 3, 0, func(text []string, _ []int64) error {
		return found(sqlbilling.Finding{Severity: sqlbilling.Wrong, Table: "radpool_balance",
			Reason: fmt.Sprintf("%.64q: the balance is %s, and the entries in radpool_ledger add up to %s", text[0], text[1], text[2])})
	})
}

func (b *Backend) checkNASes(ctx context.Context, found func(sqlbilling.Finding) error) (err error) {
	_, failed := b.nases(ctx, func(address string, wrong error) {
		if err == nil {
			err = found(sqlbilling.Finding{Severity: sqlbilling.Wrong, Table: "radpool_nas", Reason: fmt.Sprintf("%.64q: %v", address, wrong)})
		}
	})
	if failed != nil {
		return failed
	}
	return err
}
