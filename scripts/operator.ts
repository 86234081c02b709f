/** Shows an operator the state of a service, and does what an operator may: freeze, fund, sweep, invite. */
import { parseArgs } from 'node:util'
import type { Sql } from 'postgres'
import { withDatabase } from './backup/data-folder.ts'
import { reportFunding } from './operator/fund.ts'
import {
  type ReportRow,
  reportAccounts,
  reportGrowth,
  reportPayments,
  reportRelayers,
  reportStatus,
  tableOf,
} from './operator/reports.ts'
import { sweep } from './operator/sweep.ts'
import { asOwner, invite } from './serve/owner.ts'
import { type Flags, readSettings, type Settings } from './serve/settings.ts'

const help = `npm run operator -- <command> [--json] [--data data] [--database-url url] [--public-url origin]

status            how much waits, and what does not work
accounts          all accounts with their wallets
relayers          the addresses that pay for gas and have to be sent some, with what they hold
payments [alias]  the newest payments, of one account
freeze <alias>    stops an account until its owner unfreezes it
fund              relayers that lack gas, and for each the amount with a link that a wallet opens (EIP-681)
sweep <relayer>   sends the gas that a relayer without transactions in flight holds to the address in --to
growth [MB]       megabytes that each key or app may store in a day, two thirds of it at once; sets them if given
invite <email>    prints a link that opens one account within 30 minutes

--to              address to sweep to, in EIP-55 form
--transfers       transfers that a relayer should have gas for, 1000 if it is not given
--rpc             endpoint of a chain as for npm run serve, unless serve.toml has it
--json            prints rows as JSON
--data            data folder of the service, which may run
--database-url    its database, if that is not in the data folder (or DATABASE_URL)
--public-url      origin of the service for links, unless serve.toml has it

  npm run operator -- payments kestrel --json`

type Asked = {
  sql: Sql
  settings: Settings
  subject: string | undefined
  to: string | undefined
  transfers: string
}

const commands: Readonly<Record<string, (asked: Asked) => Promise<ReportRow[]>>> = {
  status: ({ sql }) => reportStatus(sql),
  accounts: ({ sql }) => reportAccounts(sql),
  relayers: ({ sql }) => reportRelayers(sql),
  payments: ({ sql, subject }) => reportPayments(sql, subject),
  freeze: ({ sql, subject }) => freeze(sql, named('freeze', subject)),
  fund: ({ sql, transfers }) => reportFunding(sql, transfers),
  sweep: ({ sql, settings, subject, to }) =>
    sweep(sql, settings, { relayer: named('sweep', subject), to }),
  growth: ({ sql, subject }) => reportGrowth(sql, subject),
  async invite({ sql, settings, subject }) {
    const link = await invite(sql, named('invite', subject).toLowerCase())
    return [{ link: `${settings.webUrl}/register/${link}` }]
  },
}

async function freeze(sql: Sql, alias: string): Promise<ReportRow[]> {
  const rows = await sql<{ alias: string; frozen: string }[]>`
    select a.alias, case when private.freeze(a.id, 'The account was frozen by the operator of the service.')
      then 'now' else 'before' end as frozen
      from private.accounts a where a.alias = ${alias}`
  if (rows.length === 0) throw new Error(`there is no account ${alias}`)
  return [...rows]
}

function named(command: string, subject: string | undefined): string {
  if (subject === undefined) throw new Error(`${command} needs a name; see --help`)
  return subject
}

const options = {
  help: { type: 'boolean', short: 'h' },
  json: { type: 'boolean' },
  port: { type: 'string', default: '8787' },
  data: { type: 'string', default: 'data' },
  'database-url': { type: 'string' },
  'public-url': { type: 'string' },
  rpc: { type: 'string', multiple: true },
  to: { type: 'string' },
  transfers: { type: 'string', default: '1000' },
  signup: { type: 'string', default: 'closed' },
} as const

try {
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  const [name = '', subject] = positionals
  const run = commands[name]
  if (values.help || !run) {
    console.log(help)
    process.exitCode = values.help ? 0 : 2
  } else {
    const settings = readSettings(values satisfies Flags)
    const rows = await withDatabase(settings, (url) =>
      asOwner(url, (sql) =>
        run({ sql, settings, subject, to: values.to, transfers: values.transfers }),
      ),
    )
    console.log(values.json ? JSON.stringify(rows, null, 2) : tableOf(rows))
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
