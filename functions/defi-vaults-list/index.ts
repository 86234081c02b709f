import { edgeFunction } from '../../shared/http/edge.ts'
import { defiVaultsList } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(defiVaultsList, run)
