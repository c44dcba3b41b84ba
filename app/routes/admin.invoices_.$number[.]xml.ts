// One endpoint serves PDF and XML, and tells them apart by the end of the path.
export { headers, loader } from './admin.invoices_.$number[.]pdf.ts';
