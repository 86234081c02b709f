import { edgeFunction } from '../../shared/http/edge.ts'
import { accountExposure } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(accountExposure, run)
