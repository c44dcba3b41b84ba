// The endpoint reads the ending.
export { headers, loader } from './invoices.$number[.]pdf.ts';
