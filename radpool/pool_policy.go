package radpool

import (
	"errors"
	"fmt"
)

// SetPolicy makes the policy decide from now on, instead of the one before. What that
// one remembered and limited is forgotten; workers that are too many by the new one end
// when they are idle. nil is [Spare] with its defaults. After an error the old one stays.
func (p *Pool[T]) SetPolicy(policy Policy) error {
	if policy == nil {
		policy = Spare{}
	}
	if err := validPolicy(policy); err != nil {
		return err
	}
	p.mu.Lock()
	p.policy, p.state, p.limit = policy, nil, 0
	p.policies++
	p.ask()
	wake := p.wakeOne() // the limit may have been all that kept it
	p.mu.Unlock()
	wake.signal()
	return nil
}

func validPolicy(policy Policy) error {
	if v, ok := policy.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			return fmt.Errorf("radpool: PoolConfig.Policy: %w", err)
		}
	}
	return nil
}

func (p *Pool[T]) currentPolicy() Policy {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.policy
}

// SetPolicy changes the number of workers of a server that serves: see
// [Pool.SetPolicy]. No request is lost by it. Before the first Serve it is an error:
// set the field Policy then. nil is [Spare] with the numbers of Config.
func (s *Server) SetPolicy(policy Policy) error {
	s.mu.Lock()
	e := s.engine
	s.mu.Unlock()
	if e == nil {
		return errors.New("radpool: SetPolicy before the first Serve: set Server.Policy")
	}
	if policy == nil {
		policy = e.config.policy()
	}
	return e.pool.SetPolicy(policy)
}
