import { expect, it } from 'vitest'
import { providerAddress } from './session'

it('the way to the provider leads back to where one was', () => {
  expect(providerAddress({ pathname: '/jobs', search: '?state=running&x=1' })).toBe('/api/v1/session/oidc/start?return_to=%2Fjobs%3Fstate%3Drunning%26x%3D1')
})
