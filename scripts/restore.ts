/** Restores a service of one machine from a backup. */
import { resolve } from 'node:path'
import { restore } from './backup/data-folder.ts'
import { readPassphrase } from './backup/passphrase.ts'
import { runFramed } from './program/frame.ts'

const help = `npm run restore -- --from file --passphrase-file file [--data data] [--database-url url]

Makes the data folder of a service from a backup; npm run serve then starts it. Stop the old service first and
for good. All accounts are frozen, and all keys, apps, sessions and mandates end, because some may have been
revoked since the backup. Nothing is signed until all payments since the backup were read from the chain.

--from              backup that npm run backup has written
--passphrase-file   file whose first line is its passphrase
--data              folder to make
--database-url      empty database to use instead of one in the folder (or DATABASE_URL)

  npm run restore -- --from account.backup --passphrase-file ~/backup.passphrase --data restored`

const options = {
  from: { type: 'string' },
  'passphrase-file': { type: 'string' },
  data: { type: 'string', default: 'data' },
  'database-url': { type: 'string' },
} as const

await runFramed(help, options, async (values) => {
  if (values.from === undefined) throw new Error('--from is missing')
  const madeAt = await restore({
    file: resolve(values.from),
    passphrase: readPassphrase(values['passphrase-file']),
    directory: resolve(values.data),
    databaseUrl: values['database-url'] ?? process.env['DATABASE_URL'],
  })
  console.log(`restored ${values.data} as of ${madeAt}; start it with the same flags as before`)
  console.log(
    'Nothing is signed until its chains were read, which takes a little over a quarter of an hour.',
  )
  console.log('Owners sign in again, check their accounts, unfreeze them and make new keys.')
  return 0
})
