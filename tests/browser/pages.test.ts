/** Every page of the app meets the same rules of size, accessibility and layout. */
import { describe, expect, test } from 'vitest'
import { assets } from '../../functions/web/assets.ts'
import { placesOf } from '../../scripts/screenshots/places.ts'
import { setStage } from '../../scripts/screenshots/stage.ts'
import { openScene } from '../support/browser/browser.ts'
import { barriersOn, outOfReachOn, sidewaysOn } from '../support/browser/sight.ts'
import { weigh } from '../support/browser/weight.ts'
import { inForm } from '../support/cases.ts'

const scene = await openScene()
const stage = await setStage(scene.facts)
/** Bytes of a page, its style and scripts. Charts carry the value of each bar. */
const transferredBytesMax = 64 * 1024
/** Bytes of the font, which a browser loads once and keeps. */
const fontBytesMax = 24 * 1024

const desktop = {
  viewport: { width: 1280, height: 800 },
  colorScheme: 'light',
  // Colours in the middle of a transition must not be judged.
  reducedMotion: 'reduce',
} as const
/** Pattern of inline markup: `<style>`, `style=`, `onclick=`, `javascript:` and scripts without a `src`. */
const inline = /<style|<[^>]*\s(style|on[a-z]+)=|javascript:|<script(?![^>]* src=)/i

/** Pages, with the colours in which axe looks at each: one of them in `npm test`, both in the long form. */
const places = placesOf(scene.facts, stage, scene.routes).map((place, at) => {
  const first = inForm(at % 2, 0)
  return { ...place, axeIn: ['light', 'dark'].slice(first, first + inForm(1, 2)) }
})

describe.each(places)('$name', ({ name, by, open, axeIn }) => {
  test('is light, free of barriers, for the keyboard alone and on a phone in the dark', async () => {
    const { context, page } = await scene[by](desktop)
    const weight = weigh(context)

    await open(page)

    const [, where = ''] = /^\/web\/?([a-z-]*)/.exec(name) ?? []
    expect(new URL(page.url()).pathname, 'the page that was asked for').toContain(where)
    expect(await weight()).toBeLessThanOrEqual(transferredBytesMax)
    expect(await page.content()).not.toMatch(inline)
    if (axeIn.includes('light')) expect(await barriersOn(page)).toEqual([])
    expect(await outOfReachOn(page)).toEqual([])
    expect(await sidewaysOn(page)).toEqual([])

    // At this width the menu stands beside the page, which leaves the least room.
    await page.setViewportSize({ width: 960, height: 740 })
    expect(await sidewaysOn(page)).toEqual([])

    await page.setViewportSize({ width: 360, height: 740 })
    await page.emulateMedia({ colorScheme: 'dark' })

    expect(await sidewaysOn(page)).toEqual([])
    if (axeIn.includes('dark')) expect(await barriersOn(page)).toEqual([])
  })
})

test('the font is light', () => {
  const bytes = Buffer.from(assets.font.base64, 'base64').length
  expect(bytes).toBeLessThanOrEqual(fontBytesMax)
})

test('the menu stands below the name of the product in a window that is too low for it', async () => {
  const { page } = await scene.owner({ viewport: { width: 1280, height: 600 } })

  await page.goto('/web')

  const name = await page.locator('.brand').boundingBox()
  const menu = await page.locator('#menu').boundingBox()
  expect(menu?.y).toBeGreaterThanOrEqual((name?.y ?? 0) + (name?.height ?? Number.NaN))
})
