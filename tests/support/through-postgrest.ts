/** Tests of operations that hold back, lose or count the requests which reach the database through PostgREST. */
export const throughPostgrest = (
  'gas-budget idempotency-day inbound-mail-limits inbound-mail-webhook mail-send mail-wait matrix ' +
  'request-signup-verification vault-canaries vault-login-ended vault-use what-counts x402-delivery x402-kept-delivery'
)
  .split(' ')
  .map((name) => `tests/operations/${name}.test.ts`)
