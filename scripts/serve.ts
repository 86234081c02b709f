/** Runs the product on this machine, for real, until it is told to end. */
import { parseArgs } from 'node:util'

const help = `npm run serve -- [--port 8787] [--data data] [--rpc [chain=]url]... [--public-url origin]
                  [--database-url url] [--trusted-proxy] [--signup closed|invited|open]
                  [--smtp-port port] [--tls-cert file --tls-key file] [--listen address] [--log-requests]

Starts an account service with a PostgreSQL of its own under http://127.0.0.1:<port>. The first start makes
all secrets and prints a link that opens the owner's account. Ctrl-C ends it; the next start goes on.

--port           port on this machine
--data           folder that keeps the database and the secrets
--rpc            endpoint of a chain, as often as there are some; the chain is base-sepolia if it is not named
--public-url     origin under which others reach this service through a proxy with TLS
--database-url   PostgreSQL 15 to 18 to use instead, with a login that may create roles (or DATABASE_URL)
--trusted-proxy  believe X-Forwarded-For of the proxy in front
--signup         who may open accounts besides the first owner
--smtp-port      take mail for agents by SMTP on this port of all addresses, mostly 25
--tls-cert       certificate (PEM, with its chain) for STARTTLS and, without --trusted-proxy, for the port; SIGHUP
                 reads it again
--tls-key        its key
--listen         address to listen on instead of 127.0.0.1, such as 0.0.0.0
--log-requests   write a line of JSON for each request: function, method, status, seconds, id

  npm run serve
  npm run serve -- --rpc https://sepolia.base.org
  npm run serve -- --rpc base=https://one.example --rpc base=https://two.example
  npm run serve -- --public-url https://account.example --trusted-proxy

<data>/serve.toml may hold public_url, mail_domain, notice_domain, mail_url, mail_token, eur_usd_rate,
turnstile_site_key and turnstile_secret_key (the sign-up page asks for the challenge of Cloudflare Turnstile),
alarm_url (alarms are posted there as JSON), alarm_mail (they are mailed there), sandbox_pay_to (address that the
sandbox is paid to where all chains are test networks) and sandbox_facilitator_url (settles there), and a table
[rpc] of chains with their endpoints.`

const options = {
  help: { type: 'boolean', short: 'h' },
  port: { type: 'string', default: '8787' },
  data: { type: 'string', default: 'data' },
  rpc: { type: 'string', multiple: true },
  'public-url': { type: 'string' },
  'database-url': { type: 'string' },
  'trusted-proxy': { type: 'boolean' },
  signup: { type: 'string', default: 'closed' },
  'smtp-port': { type: 'string' },
  'tls-cert': { type: 'string' },
  'tls-key': { type: 'string' },
  listen: { type: 'string' },
  'log-requests': { type: 'boolean' },
} as const

// A run under way must not keep a stopped service alive.
process.exit(await main())

async function main(): Promise<number> {
  try {
    const { values } = parseArgs({ options })
    if (values.help) {
      console.log(help)
      return 0
    }
    const { run } = await import('./serve/run.ts')
    return await run(values)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    return 1
  }
}
