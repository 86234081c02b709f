import { edgeFunction } from '../../shared/http/edge.ts'
import { defiOrdersList } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(defiOrdersList, run)
