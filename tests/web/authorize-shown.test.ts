/** An app is let in under the name that the page showed, whatever its document says by then. */
import { expect, test } from 'vitest'
import { unbound } from '../../shared/db/database.ts'
import { metadataFrom, sentMetadata } from '../../shared/oauth/client-metadata.ts'
import { askingPath, redirectUri } from '../support/apps.ts'
import { openPersonAtHome } from '../support/person.ts'
import { start } from '../support/world.ts'

const world = await start()
const id = 'https://app.example.com/app.json'

function describeApp(client_name: string) {
  const document = {
    client_name,
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code'],
  }
  const metadata = metadataFrom(sentMetadata.parse(document))
  return unbound(world.world.db).run('oauth_keep_document', {
    client_id: id,
    seconds: 600,
    metadata,
  })
}

test('an app that changed its name while the page was shown is shown again', async () => {
  const { person, browser } = await openPersonAtHome(world)
  await describeApp('Weather')
  const path = askingPath(id)
  await browser.visit(path)
  await describeApp('My bank')

  const answer = await browser.submit({ decision: 'allowed', level: 'read' }, path)
  const early = await world.db
    .sql`select from private.oauth_codes where account = ${person.agent.id}`
  const again = await browser.submit({ decision: 'allowed', level: 'read' }, path)

  expect(answer.status).toBe(400)
  expect(answer.text).toContain('My bank')
  expect(early).toHaveLength(0)
  expect(again.status).toBe(200)
  const codes = await world.db.sql<{ name: string }[]>`
    select asked ->> 'client_name' as name from private.oauth_codes where account = ${person.agent.id}`
  expect(codes.map(({ name }) => name)).toEqual(['My bank'])
})
