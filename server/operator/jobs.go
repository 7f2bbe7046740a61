package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// Job is what an operator sees of a job: nothing of its payload but the IDs in it, since there may be personal data and
// secrets in the rest.
type Job struct {
	ID, Kind     string
	Group        string // whose work it is: the ID of an account, a subscription or a process; it may be empty
	State        storage.JobState
	Attempts     int       // that have begun
	Failures     int       // since it was enqueued, or retried by an operator
	Due          time.Time // of a parked job, when it was parked
	LeasedUntil  time.Time // of a job in work: when another server would go on if this one died; zero: no lease
	LastError    string
	FailedAt     time.Time // when that was; zero: no attempt has failed
	PayloadBytes int
	IDs          []string // those in the payload, each as its member's name, "=" and the ID
}

// JobFilter selects the jobs of a list. Its zero value selects all.
type JobFilter struct {
	Kind  string
	State storage.JobState
}

// jobPage is how many jobs are in memory at once.
const jobPage = 100

// jobStates are those that a filter may have.
var jobStates = []storage.JobState{"", storage.JobWaiting, storage.JobInWork, storage.JobParked}

// Jobs implements [Operator].
func (s *Service) Jobs(ctx context.Context, f JobFilter, after string) ([]Job, error) {
	if !slices.Contains(jobStates, f.State) {
		return nil, fmt.Errorf("%q is not a state of a job: it must be waiting, working or parked", f.State)
	}
	at := now(ctx)
	list, err := s.store.Jobs().List(ctx, storage.JobQuery{Kind: f.Kind, State: f.State, Now: at, After: after, Limit: jobPage})
	var jobs []Job
	for _, j := range list {
		jobs = append(jobs, jobOf(j, at))
	}
	return jobs, err
}

// Job implements [Operator].
func (s *Service) Job(ctx context.Context, id string) (Job, error) {
	j, err := s.store.Jobs().Job(ctx, id)
	if err != nil {
		return Job{}, jobError(id, err)
	}
	return jobOf(j, now(ctx)), nil
}

func jobOf(j storage.StoredJob, now time.Time) Job {
	return Job{
		ID: j.ID, Kind: j.Kind, Group: j.Group, State: j.State(now), Attempts: j.Attempt, Failures: j.Failures, Due: j.Due,
		LeasedUntil: j.LeasedUntil, LastError: j.LastError, FailedAt: j.FailedAt, PayloadBytes: len(j.Payload), IDs: idsIn(j.Payload),
	}
}

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// idsIn returns the UUIDs in a payload, if that is JSON.
func idsIn(payload []byte) (ids []string) {
	var value any
	if json.Unmarshal(payload, &value) != nil {
		return nil
	}
	var look func(name string, value any)
	look = func(name string, value any) {
		switch value := value.(type) {
		case string:
			if uuidForm.MatchString(value) {
				ids = append(ids, name+"="+value)
			}
		case []any:
			for _, one := range value {
				look(name, one)
			}
		case map[string]any:
			for member, one := range value {
				look(member, one)
			}
		}
	}
	look("", value)
	slices.Sort(ids)
	return ids
}

// RetryJob implements [Operator].
func (s *Service) RetryJob(ctx context.Context, id string) error {
	return s.changeJob(ctx, id, func(ctx context.Context) error { return s.store.Jobs().RetryNow(ctx, id, now(ctx)) })
}

// DropJob implements [Operator].
func (s *Service) DropJob(ctx context.Context, id string) error {
	return s.changeJob(ctx, id, func(ctx context.Context) error { return s.store.Jobs().Remove(ctx, id) })
}

func (s *Service) changeJob(ctx context.Context, id string, change func(context.Context) error) error {
	return jobError(id, s.store.InTx(ctx, change))
}

// jobError returns what an operator is told of an error about a job.
func jobError(id string, err error) error {
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return fmt.Errorf("there is no job %q", id)
	case errors.Is(err, storage.ErrInWork):
		return fmt.Errorf("job %s is being worked on: wait until its attempt ends", id)
	}
	return err
}

// ParkedJobs implements [Operator].
func (s *Service) ParkedJobs(ctx context.Context) (map[string]int, error) {
	return s.store.Jobs().CountParked(ctx)
}

// jobsQuery is the argument of the call that lists jobs.
type jobsQuery struct {
	Filter JobFilter
	After  string
}

func (s *Service) jobCalls(mux *http.ServeMux) {
	mux.HandleFunc("POST /jobs", answer(func(ctx context.Context, a jobsQuery) ([]Job, error) { return s.Jobs(ctx, a.Filter, a.After) }))
	mux.HandleFunc("POST /job", answer(s.Job))
	mux.HandleFunc("POST /job-retry", answer(func(ctx context.Context, id string) (nothing, error) { return nothing{}, s.RetryJob(ctx, id) }))
	mux.HandleFunc("POST /job-drop", answer(func(ctx context.Context, id string) (nothing, error) { return nothing{}, s.DropJob(ctx, id) }))
	mux.HandleFunc("POST /jobs-parked", answer(func(ctx context.Context, _ nothing) (map[string]int, error) { return s.ParkedJobs(ctx) }))
}

// Jobs implements [Operator].
func (c *Client) Jobs(ctx context.Context, f JobFilter, after string) ([]Job, error) {
	return call[[]Job](ctx, c, "jobs", jobsQuery{f, after})
}

// Job implements [Operator].
func (c *Client) Job(ctx context.Context, id string) (Job, error) {
	return call[Job](ctx, c, "job", id)
}

// RetryJob implements [Operator].
func (c *Client) RetryJob(ctx context.Context, id string) error {
	return run(ctx, c, "job-retry", id)
}

// DropJob implements [Operator].
func (c *Client) DropJob(ctx context.Context, id string) error {
	return run(ctx, c, "job-drop", id)
}

// ParkedJobs implements [Operator].
func (c *Client) ParkedJobs(ctx context.Context) (map[string]int, error) {
	return call[map[string]int](ctx, c, "jobs-parked", nothing{})
}
