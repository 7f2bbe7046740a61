package main

type webhookCommand struct {
	Verify  webhookVerifyCommand  `cmd:"" help:"Check a delivery read from stdin."`
	List    webhookListCommand    `cmd:"" help:"List the subscriptions of an account."`
	Log     webhookLogCommand     `cmd:"" help:"The requests that were made to a subscription's endpoint."`
	Dropped webhookDroppedCommand `cmd:"" help:"List the events that were given up for a subscription."`
	Resend  webhookResendCommand  `cmd:"" help:"Send events again that were given up."`
	Keys    webhookKeysCommand    `cmd:"" help:"List the keys that sign requests."`
	Rotate  webhookRotateCommand  `cmd:"" name:"rotate-key" help:"Make a new key that signs requests."`
}
