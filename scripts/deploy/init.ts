/** Asks for the settings of a deployment and writes their file. */
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { stringify } from 'smol-toml'
import { readDeploySettings } from './settings.ts'

type Answers = Record<string, string>

/** A question; its default may follow from answers before. */
type Question = {
  field: string
  asks: string
  default?: (answers: Answers) => string
}

const questions: readonly Question[] = [
  { field: 'base_url', asks: 'Address of the service, such as https://api.example.com' },
  {
    field: 'zone',
    asks: 'Zone of Cloudflare that it is in',
    default: ({ base_url = '' }) =>
      URL.canParse(base_url) ? new URL(base_url).hostname.split('.').slice(-2).join('.') : '',
  },
  { field: 'account_id', asks: 'Id of the account of Cloudflare' },
  {
    field: 'mail_domain',
    asks: 'Domain of the agents’ mail addresses',
    default: ({ zone = '' }) => `agents.${zone}`,
  },
  {
    field: 'mail_url',
    asks: 'Mail provider that takes POST /emails, or smtps://user@host',
    default: () => 'https://api.resend.com/emails',
  },
  { field: 'supabase_project', asks: 'Reference of the Supabase project' },
  { field: 'chain', asks: 'Chain to pay on', default: () => 'base-sepolia' },
  { field: 'endpoints', asks: 'Its RPC endpoints, with commas between; two operators are best' },
  { field: 'eur_usd_rate', asks: 'USD per EUR, or nothing', default: () => '' },
  {
    field: 'turnstile_site_key',
    asks: 'Site key of Cloudflare Turnstile, or nothing',
    default: () => '',
  },
]

/** Asks everything and writes the file. Throws a sentence for an answer that cannot be used. */
export async function askSettings(
  file: string,
  ask: (question: string) => Promise<string>,
): Promise<void> {
  if (existsSync(file)) throw new Error(`${file} exists: change it there, or give --settings`)
  const answers: Answers = {}
  for (const { field, asks, default: usual } of questions) {
    const given = usual?.(answers) ?? ''
    const answer = await ask(given === '' ? `${asks}: ` : `${asks} [${given}]: `)
    answers[field] = answer === '' ? given : answer
  }
  // The endpoints may hold keys.
  writeFileSync(`${file}.new`, textOf(answers), { mode: 0o600 })
  try {
    readDeploySettings(`${file}.new`)
    renameSync(`${file}.new`, file)
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(`${file}.new: `, '') : ''
    throw new Error(`nothing was written: ${reason}; run this again`, { cause: error })
  } finally {
    rmSync(`${file}.new`, { force: true })
  }
}

function textOf({ chain = '', endpoints = '', ...fields }: Answers): string {
  const urls = endpoints.split(',').flatMap((url) => url.trim() || [])
  const given = Object.entries(fields).filter(([, value]) => value !== '')
  return `${stringify({
    ...Object.fromEntries(given),
    ...(urls.length > 0 && { rpc: { [chain]: urls } }),
  })}\n`
}
