import { edgeFunction } from '../../shared/http/edge.ts'
import { defiOrderCreate } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(defiOrderCreate, run)
