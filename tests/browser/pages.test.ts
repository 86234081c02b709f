/** What holds for every page, for each that the app has. */
import { describe, expect, test } from 'vitest'
import { placesOf } from '../../scripts/screenshots/places.ts'
import { setStage } from '../../scripts/screenshots/stage.ts'
import { openScene } from '../support/browser/browser.ts'
import { barriersOn, outOfReachOn, sidewaysOn } from '../support/browser/sight.ts'
import { weigh } from '../support/browser/weight.ts'

const scene = await openScene()
const places = placesOf(scene.routes, await setStage(scene.facts))
const transferredBytesMax = 50 * 1024

const desktop = { viewport: { width: 1280, height: 800 }, colorScheme: 'light' } as const
const phone = { viewport: { width: 360, height: 740 }, colorScheme: 'dark' } as const

describe.each(places)('$route', ({ path, by }) => {
  test('has no barrier, and the keyboard alone reaches everything and shows where it is', async () => {
    const { page } = await scene[by](desktop)

    await page.goto(path)

    expect(new URL(page.url()).pathname, 'the page that was asked for').toBe(path.split('?')[0])
    expect(await barriersOn(page)).toEqual([])
    expect(await outOfReachOn(page)).toEqual([])
  })

  test('fits a phone in the dark', async () => {
    const { page } = await scene[by](phone)

    await page.goto(path)

    expect(await sidewaysOn(page)).toEqual([])
    expect(await barriersOn(page)).toEqual([])
  })

  test('is light, and brings no script or style in its own text', async () => {
    const { context, page } = await scene[by](desktop)
    const weight = weigh(context)

    const answer = await page.goto(path)

    const text = (await answer?.text()) ?? ''
    expect(text).toMatch(/^<!doctype html>/i)
    expect(text).not.toMatch(/<script(?![^>]* src=)|<style|<[^>]*\s(style|on[a-z]+)=|javascript:/i)
    expect(await weight()).toBeLessThanOrEqual(transferredBytesMax)
  })
})
