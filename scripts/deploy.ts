/** Brings the product to Cloudflare Workers and a hosted Supabase, or to its newest version there. */
import { runFramed } from './program/frame.ts'

const help = `npm run deploy -- [--settings deploy.toml] [--init | --check | --plan | --rollback]
                   [--kms key | --replace name]
                   [--escrowed] [--target supabase [--secrets]] [--passphrase-file file]

Brings the product to Cloudflare Workers and a hosted Supabase. It looks at everything first, makes the secrets
once, applies migrations, mints the database's tokens, uploads the workers that differ, and asks the service
whether it works; whatever goes wrong then brings the workers back. Run it again after a failure or for a new
version.

--settings          file of the settings
--init              ask for the settings and write the file
--check             look only: rights, plan, records, database, and, with a passphrase, when its tokens end
--plan              say what would change and what each worker may reach
--rollback          bring the workers back to what they were before a run that was stopped or could not bring them back
--kms               have this key of AWS KMS or Google Cloud KMS seal the root keys of custody in <settings>.secrets
--replace           take the next of three steps that replace OTP_PEPPER, OUTBOX_KEY or PASSWORD_PEPPER
--escrowed          a copy of <settings>.secrets and its passphrase is kept elsewhere
--target supabase   write the operations as Edge Functions into dist/supabase and say how they get there;
                    deploy.toml has to say supabase_functions = true, and with --plan nothing is written
--secrets           with --target: write the values of its secrets into a pipe
--passphrase-file   file whose first line is the passphrase of <settings>.secrets, of 12 characters or more

CLOUDFLARE_API_TOKEN, SUPABASE_ACCESS_TOKEN, DATABASE_URL and MAIL_TOKEN (and TURNSTILE_SECRET_KEY with a site
key) are taken from the environment, or asked for. The token of Cloudflare needs Workers Scripts: Edit for the
account, and Zone: Read, DNS: Read, Workers Routes: Edit and Email Routing Rules: Edit for the zone.

  npm run deploy -- --init
  npm run deploy -- --check
  npm run deploy`

const options = {
  settings: { type: 'string', default: 'deploy.toml' },
  init: { type: 'boolean' },
  check: { type: 'boolean' },
  plan: { type: 'boolean' },
  rollback: { type: 'boolean' },
  kms: { type: 'string' },
  replace: { type: 'string' },
  escrowed: { type: 'boolean' },
  target: { type: 'string' },
  secrets: { type: 'boolean' },
  'passphrase-file': { type: 'string' },
} as const

await runFramed(help, options, async (values) => {
  const { run } = await import('./deploy/program.ts')
  return run(values)
})
