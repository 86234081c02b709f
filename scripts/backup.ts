/** Backs up a service of one machine into one sealed file, while it runs or stands still. */
import { resolve } from 'node:path'
import { backUp } from './backup/data-folder.ts'
import { readPassphrase } from './backup/passphrase.ts'
import { runFramed } from './program/frame.ts'

const help = `npm run backup -- --out file --passphrase-file file [--data data] [--database-url url]

Writes the database, the secrets and serve.toml of a service into one file, sealed with a passphrase. The
service may run. Keep the passphrase elsewhere: whoever has both has all wallets and logins.

--out               file to write; one that is there is replaced once the new one is complete
--passphrase-file   file whose first line is the passphrase, of 12 characters or more
--data              data folder of the service
--database-url      its database, if that is not in the data folder (or DATABASE_URL)

  npm run backup -- --out account.backup --passphrase-file ~/backup.passphrase`

const options = {
  out: { type: 'string' },
  'passphrase-file': { type: 'string' },
  data: { type: 'string', default: 'data' },
  'database-url': { type: 'string' },
} as const

await runFramed(help, options, async (values) => {
  if (values.out === undefined) throw new Error('--out is missing')
  const file = resolve(values.out)
  await backUp({
    file,
    passphrase: readPassphrase(values['passphrase-file']),
    directory: resolve(values.data),
    databaseUrl: values['database-url'] ?? process.env['DATABASE_URL'],
  })
  console.log(`backed up to ${file}`)
  return 0
})
