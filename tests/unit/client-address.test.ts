import { expect, test } from 'vitest'
import { clientOf } from '../../shared/http/caller.ts'

const named = { 'cf-connecting-ip': '192.0.2.1', 'x-forwarded-for': '192.0.2.2' }

test('without a proxy that is configured, no header tells where a client is', () => {
  expect(clientOf({ CLIENT_ADDRESS_HEADER: '' }, new Headers(named))).toBe('direct')
})

test('behind one, its header does and no other', () => {
  expect(clientOf({ CLIENT_ADDRESS_HEADER: 'cf-connecting-ip' }, new Headers(named))).toBe(
    '192.0.2.1',
  )
  expect(clientOf({ CLIENT_ADDRESS_HEADER: 'x-real-ip' }, new Headers(named))).toBe('direct')
})
