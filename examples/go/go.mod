module example.com/lynxroom-example

go 1.19
