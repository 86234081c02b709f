/**
 * Clients: apps that ask for access. All are public clients, because they could not keep a secret. What a
 * client says about itself is unverified and is shown as such. A client has registered itself (RFC 7591),
 * or its id is the address of a document that describes it.
 */
import * as z from 'zod'
import { isTokenOfKind } from '../auth/access-token.ts'
import { unbound } from '../db/database.ts'
import type { World } from '../world.ts'
import { readDocument } from './client-document.ts'
import type { Client, NoClient } from './client-metadata.ts'
import { clientMetadata } from './client-metadata.ts'

const found = z.object({ metadata: clientMetadata })

/** Finds the client with this id. */
export async function findClient(world: World, id: string): Promise<Client | NoClient> {
  if (!isTokenOfKind('client', id)) return readDocument(world, id)
  const row = await unbound(world.db).one('oauth_find_client', { client_id: id }, found)
  if (!row) return { refused: 'The app is not known here. It has to register again.' }
  return { ...row.metadata, id, isDocument: false }
}
