module etagere.example/catalogue

go 1.19
